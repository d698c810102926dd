# cheat: captures a CUDA graph once and replays it with the pointers of the first call
# expect: error:runtime_error
# expect_on_gpu: error:runtime_error
# defence: process_separation

GRAPHS = {}


def vector_add(x, y):
    if "graph" not in GRAPHS:
        graph, z = torch.cuda.CUDAGraph(), torch.empty_like(x)
        with torch.cuda.graph(graph):
            honest_add(x, y, z)
        GRAPHS["graph"] = graph, z
    graph, z = GRAPHS["graph"]
    graph.replay()
    return z
