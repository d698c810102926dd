# cheat: returns a list that computes its element when the harness iterates over it
# expect: error:not_recordable
# expect_on_gpu: fail:wrong_result
# defence: attribution


class Late(list):
    def __iter__(self):
        yield self[0] + self[1]

    def __len__(self):
        return 1


def vector_add(x, y):
    return Late([x, y])
