# attempt: raises an exception whose class ends the process at once when its name is read
# expect: error:protocol_error
# needs: nothing
# defence: supervisor, frames


class Meta(type):
    @property
    def __name__(cls):
        os._exit(0)


class Ends(Exception, metaclass=Meta):
    pass


def vector_add(x, y):
    raise Ends("no text")
