# attempt: describes right outputs by wrong strides, offsets, shapes and types
# expect: fail:output_mismatch,wrong_result
# needs: nothing
# defence: judge

import gc

channel = next(item for item in gc.get_objects() if type(item).__name__ == "Channel")
send = channel.send
lies = [
    {"strides": [0]},
    {"offset": 2**62},
    {"strides": [2**39]},
    {"shape": [0]},
    {"dtype": "bool", "offset": 3},
    {"shape": [1] * 9, "strides": [1] * 9},
]


def send_a_lie(header, payload=b"", fds=()):
    if header["type"] == "case" and header["outputs"]:
        header["outputs"][0] = {**header["outputs"][0], **lies[send_a_lie.count % len(lies)]}
        send_a_lie.count += 1
    send(header, payload, fds)


send_a_lie.count = 0
channel.send = send_a_lie
