"""The functions of ray.util that assay.ray uses."""


def get_node_ip_address() -> str:
    return "127.0.0.1"
