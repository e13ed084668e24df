"""The planes of a view, one byte of each pixel: what the reviser is shown of a frame.

internal/matte/view says what they mean. A test there holds this list to its own.
"""

PLANES = (
    "Red", "Green", "Blue", "Coverage",
    "RedOff", "GreenOff", "BlueOff", "Unusual", "Deviation", "Frames", "Claim",
    "TrackMotion", "TrackFrames", "Motion", "Trust", "SubjectMotion", "BackdropMotion",
)  # fmt: skip
COUNT = len(PLANES)
MATTE = PLANES.index("Coverage")
PLATE = range(PLANES.index("RedOff"), PLANES.index("TrackMotion"))  # what the plate tells
MOTION = range(PLANES.index("TrackMotion"), COUNT)  # what the clip's motion tells
UNKNOWN = (0, 0, 0, 0, 128, 128, 128) + (0,) * (COUNT - 7)  # of a place of which nothing is known

# How a byte of each becomes a number of about unit size: less MIDDLE, by SCALE.
MIDDLE = (128,) * 7 + (64, 16, 128, 64) + (64, 48, 64, 128, 160, 40)
SCALE = (1 / 64,) * 4 + (1 / 16,) * 3 + (1 / 48, 1 / 24, 1 / 96, 1 / 64) + (1 / 64, 1 / 32, 1 / 64, 1 / 96, 1 / 64, 1 / 32)
