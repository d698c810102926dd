# attempt: calls sys.exit, with a destructor that prints a result
# expect: error:protocol_error
# needs: nothing
# defence: supervisor, frames


class Last:
    def __del__(self):
        os.write(1, b'{"outcome": "pass"}\n')


last = Last()
sys.exit(0)
