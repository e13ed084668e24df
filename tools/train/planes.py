"""The planes that the small networks are shown of a frame, one byte each.

internal/matte/view says what they mean. A test there holds these lists to its own.
"""

# Of each pixel, for the reviser.
PLANES = (
    "Red", "Green", "Blue", "Coverage",
    "RedOff", "GreenOff", "BlueOff", "Unusual", "Deviation", "Frames", "Claim",
)  # fmt: skip
COUNT = len(PLANES)
MATTE = PLANES.index("Coverage")
PLATE = range(PLANES.index("RedOff"), COUNT)  # what the plate tells
UNKNOWN = (0, 0, 0, 0, 128, 128, 128) + (0,) * (COUNT - 7)  # of a place of which nothing is known

# How a byte of each becomes a number of about unit size: less MIDDLE, by SCALE.
MIDDLE = (128,) * 7 + (64, 16, 128, 64)
SCALE = (1 / 64,) * 4 + (1 / 16,) * 3 + (1 / 48, 1 / 24, 1 / 96, 1 / 64)

# Of each cell, for the chooser.
CELLS = (
    "CellCoverage", "CellRed", "CellGreen", "CellBlue", "CellMotion", "CellTrust", "CellAlong",
    "TrackMotion", "TrackAlong", "TrackTrust", "TrackCoverage", "TrackFrames",
    "ShotSubject", "ShotBackdrop", "ShotBusiest", "ShotLively",
)  # fmt: skip
CELL_COUNT = len(CELLS)
CELL_MIDDLE = (128, 128, 128, 128, 64, 128, 128, 96, 128, 48, 96, 48, 128, 40, 80, 128)
CELL_SCALE = (1 / 128,) + (1 / 80,) * 3 + (1 / 128, 1 / 128, 1 / 80, 1 / 80, 1 / 64, 1 / 32, 1 / 80, 1 / 32) + (1 / 80,) * 3 + (1 / 128,)

# Of each pixel, for the guide.
MARKED = ("MarkRed", "MarkGreen", "MarkBlue", "MarkKeep", "MarkDrop", "MarkBefore", "MarkTrust")
MARKED_COUNT = len(MARKED)
MARKS = range(MARKED.index("MarkKeep"), MARKED_COUNT)

# Of each square of 2 × 2 cells, for the chooser: what the network sees there, of which a byte is so much.
FEATURES = 32
FEATURE_SCALE = 1 / 48
