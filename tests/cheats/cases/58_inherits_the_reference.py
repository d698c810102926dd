# cheat: imports the reference and adds nothing to it
# expect: error:module_not_found
# expect_on_gpu: error:module_not_found
# operator: softmax_last_dim
# defence: process_separation, jail

import reference


class Mine(getattr(reference, "Model", object)):
    pass


def softmax_last_dim(x):
    return reference.reference(x)
