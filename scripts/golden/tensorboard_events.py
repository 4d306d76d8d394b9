"""Writes test/golden/events.tfevents with TensorBoard's own protocol buffers and record writer.

pip install tensorboard; python3 scripts/golden/tensorboard_events.py test/golden/events.tfevents
test/features/tensorboard/event-file.test.ts writes the same events and compares the bytes.
"""

import sys

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

EVENTS = [
    Event(wall_time=1700000000.5, file_version="brain.Event:2"),
    Event(wall_time=1700000001.25, step=1, session_log=SessionLog(status=SessionLog.START)),
    Event(
        wall_time=1700000002.0,
        step=1,
        summary=Summary(
            value=[
                Summary.Value(tag="train/reward", simple_value=0.75),
                Summary.Value(tag="train/kl", simple_value=0.0),
                Summary.Value(tag="time/total", simple_value=12.345678),
            ]
        ),
    ),
    Event(
        wall_time=1700000003.0,
        step=3000000000,
        summary=Summary(value=[Summary.Value(tag="eval/höher/reward", simple_value=-1e-7)]),
    ),
]


class Keep:
    """RecordWriter closes its file; the bytes must outlive that."""

    def __init__(self, path):
        self.file = open(path, "wb")
        self.write, self.flush, self.close = self.file.write, self.file.flush, self.file.close


writer = RecordWriter(Keep(sys.argv[1]))
for event in EVENTS:
    writer.write(event.SerializeToString(deterministic=True))
writer.close()
