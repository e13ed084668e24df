"""What the trainings of the chooser and the reviser have in common: their loop and command line."""

import argparse
import pathlib
import time
from concurrent.futures import ThreadPoolExecutor

import torch

import files
import restore
from net import count
from schedule import Schedule

WARM = 100  # steps over which the learning rate rises


def ahead(make, count):
    """What make returns, count times, each made while the one before is in use."""
    with ThreadPoolExecutor(1) as pool:
        following = pool.submit(make)
        for _ in range(count - 1):
            ready, following = following, pool.submit(make)
            yield ready.result()
        yield following.result()


def learn(net, batch, loss, steps, rate, every, report=lambda: "", bfloat16=False):
    """Learns from what batch() gives, steps times: a tuple of the net's inputs, and the truth, 0 to 255.

    Every so many steps, and at the end, it prints the number of samples, the speed, the loss and a report.
    """
    net.train()
    optimiser = torch.optim.AdamW(net.parameters(), lr=rate, weight_decay=0.01)
    plan = Schedule([(1, steps)])
    mean, samples, begin = 0.0, 0, time.monotonic()
    for step, (given, truth) in enumerate(ahead(batch, steps)):
        for group in optimiser.param_groups:
            group["lr"] = rate * plan.rate(step + 1, warm=WARM / max(steps, 2 * WARM))
        with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
            found = net(*(planes.contiguous(memory_format=torch.channels_last) for planes in given))
        off = loss(found.float(), truth / 255)
        optimiser.zero_grad()
        off.backward()
        optimiser.step()
        mean += 0.005 * (off.item() - mean)
        samples += len(truth)
        if step % every == every - 1 or step == steps - 1:
            speed = samples / (time.monotonic() - begin)
            print(f"{samples} samples, {speed:.0f}/s, loss {mean / (1 - 0.995 ** (step + 1)):.4f}{report()}", flush=True)


def restored(net, convolutions, path, inputs):
    """Gives the net the weights of an .onnx file of its kind, perhaps for fewer planes; inputs are tuples of what it sees."""
    found, _ = restore.weights(path)
    restore.fill(list(convolutions), found)
    restore.settle(net, inputs)


def parser(doc, samples):
    """The command line of a training."""
    p = argparse.ArgumentParser(description=doc.splitlines()[0])
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("weights", type=pathlib.Path, help="where to keep the weights, and gone on from if it is there")
    p.add_argument("onnx", type=pathlib.Path)
    p.add_argument("--samples", type=int, default=samples, help="to learn from; 0 only writes the .onnx file")
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--rate", type=float, default=2e-3)
    p.add_argument("--start", type=pathlib.Path, help="an .onnx file whose weights to begin with, where there are no others")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--bfloat16", action="store_true", help="compute in bfloat16: quicker where the processor can")
    return p


def main(a, net, convolutions, samples, train, write):
    """Trains a net as the command line a says, and writes its files. samples() opens the folder."""
    torch.manual_seed(a.seed)
    net = net.to(memory_format=torch.channels_last)
    if a.weights.exists():
        net.load_state_dict(torch.load(a.weights, weights_only=True))
    elif a.start:
        seen = samples()
        restored(net, convolutions(net), a.start, (seen.batch(a.batch)[0] for _ in range(60)))
    if a.samples > 0:
        train(net, samples())
        with files.whole(a.weights) as part:
            torch.save(net.state_dict(), part)
    print(f"{write(net, a.onnx)}  {a.onnx} ({a.onnx.stat().st_size / 2**10:.0f} KiB, {count(net)} weights)")
