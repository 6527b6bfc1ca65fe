import base64
import os
import threading

from tools.guest.runner import LineStream


def test_frames_arrive_whole_however_the_input_is_cut() -> None:
    reading, far = os.pipe()
    bodies = [b"{}", b"", bytes(range(256)) * 2000]
    lines = b"".join(base64.b64encode(body) + b"\n" for body in bodies)

    def trickle() -> None:
        for start in range(0, len(lines), 70_001):
            os.write(far, lines[start : start + 70_001])

    writer = threading.Thread(target=trickle)
    writer.start()
    stream = LineStream(reading, -1)
    assert [stream.read() for _ in bodies] == bodies
    writer.join()
    os.close(reading)
    os.close(far)


def test_a_frame_is_written_as_one_line() -> None:
    near, writing = os.pipe()
    stream = LineStream(-1, writing)
    stream.write(b'{"text":"\xc3\xa9\\n"}')
    assert os.read(near, 1000) == base64.b64encode(b'{"text":"\xc3\xa9\\n"}') + b"\n"
    os.close(near)
    os.close(writing)
