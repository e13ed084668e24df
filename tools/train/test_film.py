"""The clips that the chooser and the reviser learn from: what is in their truth, how they move, and what recording does to them."""

import collections
import csv
import pathlib
import random
import tempfile
import types
import unittest
from unittest import mock

import numpy as np
from PIL import Image

import cast
import evaluate
import film
import footage
import motion
import pack
import recording
import scenery
import stage

RED, GREEN, BLUE = (255, 0, 0), (0, 255, 0), (0, 0, 255)


class Drawn:
    """A pack of red subjects and blue places."""

    def __init__(self):
        def item(kind, held, touches=""):
            source = {"scene": "ccp", "cutout": "emojitwo"}.get(kind, "panoramas")
            return pack.Item(f"{kind}{held}", kind, source, "", f"{kind} {held}", held, touches, frames=20 * (kind in ("clip", "moving")))

        kinds = "scene", "cutout", "background", "clip", "moving"
        self.items = [item(kind, held) for kind in kinds for held in (False, True)]
        self.items += [pack.Item(f"scene{s}", "scene", s, "", s, held, "") for s in cast.OTHERS for held in (False, True)]

    def choose(self, kind, held):
        return [i for i in self.items if i.kind == kind and i.held == held]

    def picture(self, item, frame=0):
        if item.kind in ("background", "moving"):
            return np.full((60, 80, 3), BLUE, np.uint8)
        a = np.full((60, 40, 4), (*RED, 255), np.uint8)
        a[:6] = a[:, :6] = 0
        return a


def planned(kind, camera, glued=0, **more):
    return film.Plan(kind, camera, (160, 120), False, glued, **more)


def filmed(plan, seed):
    """A clip before it is recorded, of plain colours: red subjects, green glued things and blue places."""
    dice = random.Random(seed)

    def glue(*a):
        thing = glued(*a)
        green = np.array(thing.cut)
        green[..., :3] = green[..., 3:] * np.float32(GREEN) / 255
        thing.cut, thing.shadow = Image.fromarray(green, "RGBa"), 0
        return thing

    glued = film.glue
    with (
        mock.patch("clips.taken", lambda _: set()), mock.patch.object(film, "glue", glue),
        mock.patch.object(film, "dressed", lambda dice, cut, picture: cut), mock.patch.object(film, "screen", lambda *a: nothing()),
        mock.patch.object(scenery, "photograph", lambda *a: Image.new("RGB", (80, 60), BLUE)),
    ):  # fmt: skip
        pictures, truths = film.filmed(Drawn(), dice, np.random.default_rng(seed), plan)
    return pictures, truths


def nothing():
    return stage.Thing(Image.new("RGBa", (2, 2)), motion.Track.rest((0, 0), 1))


def middles(truths):
    """The middle of each matte, x and y."""
    h, w = truths.shape[1:]
    return np.array([[(t * np.arange(w)).sum(), (t * np.arange(h)[:, None]).sum()] / t.sum() for t in truths])


class Truth(unittest.TestCase):
    def test_holds_subjects_and_no_glued_things(self):
        green = hidden = 0
        for seed in range(6):
            pictures, mattes = filmed(planned("moving", "shake", 3), seed)
            truths, things, unhidden = mattes[:, 0], mattes[:, 1:5], mattes[:, 5:]
            self.assertEqual(things.shape[1], 4)
            self.assertEqual(unhidden.shape, things.shape)
            self.assertTrue((things <= unhidden).all())
            hidden += (unhidden - things).mean()
            self.assertLess(things.sum(1).max(), 1.001)
            self.assertGreater((things.sum(1) > 0.9)[pictures[..., 1] > 200].mean(), 0.7)
            np.testing.assert_allclose(pictures[..., 0] * (pictures[..., 1] < 1), truths * 255 * (pictures[..., 1] < 1), atol=60)
            self.assertFalse((truths[pictures[..., 1] > 200] > 0.25).any())
            green += (pictures[..., 1] > 200).mean()
        self.assertGreater(green / 6, 0.01)
        self.assertGreater(hidden / 6, 0.001)

    def test_of_a_room_is_empty(self):
        pictures, truths = filmed(planned("empty", "pan"), 1)
        self.assertEqual(truths.max(), 0)
        self.assertTrue((pictures[..., 2] > 100).all())

    def test_holds_both_of_two_subjects(self):
        one, two = (np.mean([filmed(planned("moving", "still", two=t, rests=t), s)[1][:, 0].mean() for s in range(8)]) for t in (False, True))
        self.assertGreater(two, 1.2 * one)


class Motion(unittest.TestCase):
    def test_static_subjects_hardly_move(self):
        for seed in range(6):
            at = middles(filmed(planned("static", "still"), seed)[1][:, 0])
            self.assertLess(np.ptp(at, 0).max(), 4)

    def test_gestures_move_parts_of_still_subjects(self):
        still, gestures = ([filmed(planned("static", "still", gestures=g), s) for s in range(8)] for g in (False, True))
        changes = [np.mean([np.abs(np.diff(mattes[:, 0], axis=0)).mean() for _, mattes in some]) for some in (still, gestures)]
        self.assertGreater(changes[1], 2 * changes[0])
        for pictures, mattes in gestures:
            self.assertLess(np.ptp(middles(mattes[:, 0]), 0).max(), 16)
            np.testing.assert_allclose(pictures[..., 0], mattes[:, 0] * 255, atol=60)

    def test_gestures_are_only_made_where_they_are_wanted(self):
        with mock.patch("clips.taken", lambda _: set()):
            kinds = [[(c.plan.kind, c.plan.gestures) for c in (film.clip(Drawn(), s, share) for s in range(6))] for share in (0, 1)]
        self.assertFalse(any(g for _, g in kinds[0]))
        self.assertEqual([k == "static" for k, _ in kinds[1]], [g for _, g in kinds[1]])

    def test_tracking_shots_keep_the_subject(self):
        carried = []
        for seed in range(8):
            dice = random.Random(seed)
            camera = motion.camera(dice, np.random.default_rng(seed), "track", (160, 120))
            carried.append(np.abs(np.diff(camera.shift, axis=0)).max() / 160)
            at = middles(filmed(planned("moving", "track"), seed)[1][:, 0])
            self.assertLess(np.ptp(at, 0)[0], 0.25 * 160)
        self.assertTrue(0.004 < min(carried) and 0.02 < max(carried) < 0.1, carried)

    def test_what_the_camera_follows_is_not_carried_away(self):
        camera = motion.camera(random.Random(1), np.random.default_rng(1), "track", (160, 120))
        camera.jitter[:], camera.turn[:], camera.zoom[:] = 0, 0, 1
        far, near = (camera.matrix(15, depth)[:2, 2] - camera.matrix(0, depth)[:2, 2] for depth in (1, 1.5))
        np.testing.assert_allclose(near, 1.5 * far)
        self.assertGreater(np.abs(far).max(), 8)
        np.testing.assert_allclose(camera.matrix(15, follows=True), np.eye(3), atol=1e-9)

    def test_subjects_pause(self):
        ways = [np.diff(motion.progress(random.Random(seed))[0]) for seed in range(200)]
        self.assertTrue(all(((w >= -1e-9) & (w <= 1 + 1e-9)).all() for w in ways))
        self.assertTrue(0.3 < np.mean([w.min() < 0.01 for w in ways]) < 0.8)
        self.assertGreater(np.mean([w.max() for w in ways]), 0.9)

    def test_bends_a_part(self):
        thing = stage.Thing(Image.new("RGBa", (40, 100)), motion.Track.rest((0, 0), 1))
        x, y = thing.unbent(np.float64([10, 10]), np.float64([20, 90]), 0.3)
        self.assertEqual((x[0], y[0]), (10, 20))
        self.assertGreater(abs(x[1] - 10), 5)


class Plans(unittest.TestCase):
    def test_shares(self):
        drawn = Drawn()
        plans = [film.plan(drawn, random.Random(seed)) for seed in range(2000)]

        def share(test):
            return np.mean([test(p) for p in plans])

        self.assertAlmostEqual(share(lambda p: p.kind == "static"), 0.33, delta=0.04)
        self.assertAlmostEqual(share(lambda p: p.kind == "empty"), 0.06, delta=0.02)
        self.assertAlmostEqual(share(lambda p: p.glued > 0), 0.45, delta=0.04)
        self.assertGreater(share(lambda p: p.kind == "moving" and p.camera == "track"), 0.25)
        self.assertEqual(share(lambda p: p.rests and p.glued > 0), 0)
        self.assertLess(np.mean([p.glued > 0 for p in plans if p.kind == "static"]), 0.2)
        self.assertFalse(any(p.footage and p.footage.held for p in plans))

    def test_a_seed_stands_for_a_clip(self):
        with mock.patch("clips.taken", lambda _: set()):
            for seed in range(6):
                a, b = (film.clip(Drawn(), seed) for _ in range(2))
                np.testing.assert_array_equal(a.pictures, b.pictures)
                np.testing.assert_array_equal(a.truths, b.truths)
                self.assertEqual(a.pictures.shape, (*a.truths.shape, 3))
                self.assertEqual(a.things.shape, a.unhidden.shape)
                self.assertEqual((a.pictures.dtype, a.truths.dtype, len(a.truths)), (np.uint8, np.uint8, film.FRAMES))

    def test_measured_groups_take_no_part(self):
        with mock.patch("clips.taken", lambda _: {"cutout True", "scene True"}):
            sources = cast.Cast(Drawn()).sources
        self.assertNotIn(("cutout", True), sources)
        self.assertNotIn("ccp", sources["scene", True])


class Real(unittest.TestCase):
    def test_the_longer_side_is_that_of_drawn_clips(self):
        for shape, want in (((60, 40, 4), (320, 213)), ((40, 60, 4), (213, 320)), ((50, 50, 4), (320, 320))):
            clip = types.SimpleNamespace(choose=lambda *_: [types.SimpleNamespace(frames=20)], picture=lambda *_: np.zeros(shape, np.uint8))
            pictures, truths = film.real(clip, random.Random(1))
            self.assertEqual((pictures.shape[1:3], truths.shape[1:]), (want, want))


class Stage(unittest.TestCase):
    def test_the_place_is_continued_as_far_as_the_camera_sees(self):
        camera = motion.camera(random.Random(2), np.random.default_rng(2), "track", (64, 48))
        wide = stage.widened(Image.new("RGB", (60, 40), (200, 0, 0)), 1.3, camera)
        place = stage.Place([wide], 1.3)
        seen = [np.asarray(place.draw(camera, n, (0, 0, 64, 48))) for n in range(film.FRAMES)]
        self.assertTrue(all((s[..., 0] > 190).all() for s in seen))

    def test_waves_move_a_part(self):
        waves = stage.Waves((20, 20), (8, 8), [((0.3, 0), (2, 0), 0.5, 1)])
        x, y = waves.shifted(np.float64([20, 60]), np.float64([20, 60]), 3)
        self.assertGreater(abs(x[0] - 20), 0.3)
        self.assertAlmostEqual(x[1], 60, places=3)

    def test_a_shadow_falls_on_the_backdrop(self):
        alpha = np.zeros((48, 64), np.float32)
        alpha[10:30, 20:40] = 1
        shaded = stage.shaded(np.full((48, 64, 3), 200, np.float32), alpha, 0.5, (0.1, 0.1))
        y, x = divmod(int(shaded[..., 0].argmin()), 64)
        self.assertAlmostEqual(float(shaded.min()), 100, delta=4)
        self.assertTrue(abs(x - 36) <= 8 and abs(y - 26) <= 8, (x, y))

    def test_motion_blurs(self):
        thing = stage.Thing(Image.new("RGBa", (10, 10), (255, 255, 255, 255)), motion.Track.rest((30, 20), 1))
        thing.track.where[:, 0] += 10 * np.arange(motion.ROWS)
        camera = motion.camera(random.Random(1), np.random.default_rng(1), "still", (64, 48))
        sharp, soft = (stage.exposed(thing, camera, 1, shutter)[1][..., 3] for shutter in (0, 0.5))
        self.assertLess(((sharp > 20) & (sharp < 235)).mean(), 0.05)
        self.assertGreater(((soft > 20) & (soft < 235)).mean(), 0.2)


class Cast(unittest.TestCase):
    def test_patterns_cover_a_part(self):
        shares = [np.asarray(cast.pattern(random.Random(seed), (60, 90))).mean() / 255 for seed in range(40)]
        self.assertTrue(all(s < 0.9 for s in shares))
        self.assertTrue(0.03 < np.mean(shares) < 0.5, np.mean(shares))

    def test_holes_and_paint_are_where_the_mask_is(self):
        cut = Image.new("RGBa", (6, 4), (100, 0, 0, 200))
        mask = Image.new("L", cut.size)
        mask.paste(255, (0, 0, 3, 4))
        holes, paint = np.asarray(cast.pierced(cut, mask)), np.asarray(cast.painted(cut, mask, (0, 255, 0)))
        np.testing.assert_array_equal(holes[:, 3:], np.asarray(cut)[:, 3:])
        self.assertEqual(holes[:, :3].max(), 0)
        np.testing.assert_array_equal(paint[:, 3:], np.asarray(cut)[:, 3:])
        self.assertTrue((paint[..., 3] == 200).all())
        self.assertEqual(paint[0, 0].tolist(), [20, 160, 0, 200])

    def test_boards_hang_in_the_backdrop(self):
        photographs = types.SimpleNamespace(choose=lambda kind, held: [kind], picture=lambda item: np.full((20, 30, 3), 250, np.uint8))
        shares = []
        for seed in range(20):
            place = Image.new("RGB", (90, 60), (10, 20, 30))
            scenery.furnish(photographs, random.Random(seed), place)
            self.assertEqual(place.size, (90, 60))
            shares.append((np.asarray(place) != (10, 20, 30)).any(2).mean())
        self.assertTrue(0.02 < np.mean(shares) < 0.7, shares)


class Recording(unittest.TestCase):
    def test_compressed_pictures_stay_alike(self):
        y, x = np.mgrid[:31, :45]
        picture = np.stack([4 * y, 3 * x, 2 * (x + y)], 2).astype(np.uint8)
        pictures, truths = recording.compressed(np.stack([picture] * 3), np.stack([y] * 3).astype(np.uint8), 20)
        self.assertEqual((pictures.shape, truths.shape), ((3, 30, 44, 3), (3, 30, 44)))
        off = np.abs(pictures.astype(int) - picture[:30, :44]).mean()
        self.assertTrue(0 < off < 6, off)

    def test_few_colours(self):
        pictures = np.random.default_rng(1).integers(0, 256, (3, 24, 32, 3), np.uint8)
        for seed in range(8):
            out = recording.few_colours(random.Random(seed), pictures)
            self.assertEqual(out.shape, pictures.shape)
            self.assertTrue(all(len(np.unique(p.reshape(-1, 3), axis=0)) <= 256 for p in out))

    def test_small_pictures(self):
        pictures, truths = recording.smaller(np.full((2, 180, 320, 3), 9, np.float32), np.ones((2, 1, 180, 320), np.float32), 120)
        self.assertEqual((pictures.shape, truths.shape), ((2, 68, 120, 3), (2, 1, 68, 120)))
        self.assertTrue((pictures == 9).all() and (truths == 1).all())


class Footage(unittest.TestCase):
    def test_frames_follow_each_other(self):
        for seed in range(60):
            numbers = scenery.order(random.Random(seed), random.Random(seed).randint(3, 60))
            steps = np.abs(np.diff(numbers))
            self.assertTrue(min(numbers) >= 0 and steps.max() <= 2 and steps.min() >= 1, numbers)

    def test_parts_lie_within(self):
        for _, (left, top, right, bottom), first, end in footage.PARTS:
            self.assertTrue(0 <= left < right <= 1 and 0 <= top < bottom <= 1 and end - first >= film.FRAMES)

    def test_a_pack_with_an_error_is_none(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            row = ("missing.png", "", "background", "x", "x", "x", "", "", "")
            with open(folder / "manifest.csv", "w", newline="") as f:
                csv.writer(f).writerows([("path", "mask", "kind", "source", "licence", "group", "foreground_share", "size", "touches"), row])
            with self.assertRaises(FileNotFoundError):
                pack.pack(folder, folder / "pack.zip", pack.Sizes(), set())
            self.assertEqual([f.name for f in folder.iterdir()], ["manifest.csv"])

    def test_packed_clips_keep_their_backdrop(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            frames = folder / "clips/intel/car"
            frames.mkdir(parents=True)
            mask = np.zeros((36, 64), np.uint8)
            mask[10:20, 10:30] = 255
            for n in range(2):
                Image.new("RGB", (64, 36), (0, 90, 200)).save(frames / f"{n:05d}.jpg")
                Image.fromarray(mask).save(frames / f"{n:05d}.png")
            header = "path", "mask", "kind", "source", "licence", "group", "foreground_share", "size", "touches"
            rows = {
                "manifest.csv": [header],
                "clips.csv": [("path", "masks", "frames", "fps", "source", "licence", "group", "size"),
                              ("clips/intel/car", "yes", 2, 12, "intel", "CC BY 4.0", "intel-car", "64x36")],
            }  # fmt: skip
            for name, lines in rows.items():
                with open(folder / name, "w", newline="") as f:
                    csv.writer(f).writerows(lines)
            pack.pack(folder, folder / "pack.zip", pack.Sizes(clip=32), set())
            packed = pack.Pack(folder / "pack.zip")
            item = packed.items[0]
            self.assertEqual((item.kind, item.frames), ("clip", 2))
            a = packed.picture(item, 1)
        self.assertEqual(a.shape, (18, 32, 4))
        self.assertLess(np.abs(a[..., :3].astype(int) - (0, 90, 200)).max(), 20)
        self.assertEqual((int(a[7, 8, 3]), int(a[0, 0, 3])), (255, 0))


class Measured(unittest.TestCase):
    def test_there_are_as_many_films_of_each_kind_as_wanted(self):
        def clip(_, seed):
            return types.SimpleNamespace(plan=planned(("static", "moving", "empty")[seed % 3], "still", seed % 4 > 0))

        with mock.patch.object(film, "clip", clip):
            found = [(c.plan.glued, kinds) for c, kinds in evaluate.films(None)]
        self.assertEqual(collections.Counter(k for _, kinds in found for k in kinds), evaluate.KINDS)
        self.assertFalse([kinds for glued, kinds in found if glued and any(evaluate.PLAIN in k for k in kinds)])


if __name__ == "__main__":
    unittest.main()
