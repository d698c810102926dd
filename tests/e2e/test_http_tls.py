"""Tests TLS in `assay serve --http`, with certificates that the test creates."""

from __future__ import annotations

import json
import shutil
import socket
import ssl
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from http_serving import PING, make_certificate, serving


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    openssl = shutil.which("openssl")
    assert openssl, "the package openssl is needed to make certificates"
    folder = tmp_path_factory.mktemp("certificates")
    for name in ("one", "two"):
        make_certificate(folder, name)
    subprocess.run(
        [
            openssl,
            "ec",
            "-in",
            str(folder / "one.key"),
            "-aes256",
            "-passout",
            "pass:x",
            "-out",
            str(folder / "locked.key"),
        ],
        check=True,
        capture_output=True,
    )
    (folder / "text.pem").write_text("no certificate\n")
    return folder


def test_tls(binary: str, tmp_path: Path, certificates: Path) -> None:
    with serving(
        binary,
        tmp_path,
        "--tls-cert",
        str(certificates / "one.pem"),
        "--tls-key",
        str(certificates / "one.key"),
    ) as server:
        assert server.request("POST", "/mcp", PING)[0] == 200
        tools = server.request("POST", "/mcp", '{"jsonrpc":"2.0","id":1,"method":"tools/list"}')[2]
        assert len(json.loads(tools)["result"]["tools"]) > 5
        # Idle connections that never start the TLS handshake must not disturb a connection that
        # sends many requests.
        idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(50)]
        connection = server.connection()
        for _ in range(20):
            connection.request("POST", "/mcp", PING, {"Content-Type": "application/json"})
            response = connection.getresponse()
            assert (response.status, response.read()) == (
                200,
                b'{"id":1,"jsonrpc":"2.0","result":{}}',
            )
        connection.close()
        for peer in idle:
            peer.close()
        old = ssl._create_unverified_context()
        old.minimum_version = ssl.TLSVersion.TLSv1
        old.maximum_version = ssl.TLSVersion.TLSv1_1
        with (
            pytest.raises((ssl.SSLError, ConnectionError)),
            socket.create_connection(("127.0.0.1", server.port)) as plain,
        ):
            old.wrap_socket(plain)
        only_http2 = ssl._create_unverified_context()
        only_http2.set_alpn_protocols(["h2"])
        with (
            pytest.raises((ssl.SSLError, ConnectionError)),
            socket.create_connection(("127.0.0.1", server.port)) as plain,
        ):
            only_http2.wrap_socket(plain)
        # The TLS port must not answer a request in plain HTTP with the status 200.
        with (
            suppress(ConnectionResetError),
            socket.create_connection(("127.0.0.1", server.port), timeout=120) as plain,
        ):
            plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert b"HTTP/1.1 200" not in plain.recv(1000)
        assert server.request("GET", "/healthz")[0] == 200


# Each entry is a cipher suite of TLS 1.2, and whether the server must accept it.
CIPHERS = {
    "ECDHE-RSA-AES128-GCM-SHA256": True,
    "ECDHE-RSA-AES256-GCM-SHA384": True,
    "ECDHE-RSA-CHACHA20-POLY1305": True,
    "AES128-GCM-SHA256": False,  # no forward secrecy
    "AES256-SHA256": False,
    "ECDHE-RSA-AES128-SHA256": False,  # CBC: no authenticated encryption
    "ECDHE-RSA-AES256-SHA": False,
}


def test_tls_1_2_needs_forward_secrecy_and_authenticated_encryption(
    binary: str, tmp_path: Path
) -> None:
    key, certificate = tmp_path / "rsa.key", tmp_path / "rsa.pem"
    names = ["-subj", "/CN=localhost", "-days", "2", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *names],
        check=True,
        capture_output=True,
    )
    files = ["--tls-cert", str(certificate), "--tls-key", str(key)]
    with serving(binary, tmp_path, *files) as server:
        for cipher, accepted in CIPHERS.items():
            connect = ["-connect", f"127.0.0.1:{server.port}", "-tls1_2"]
            done = subprocess.run(
                ["openssl", "s_client", *connect, "-cipher", f"{cipher}:@SECLEVEL=0"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=120,
            )
            assert (f"Cipher is {cipher}\n" in done.stdout) == accepted, (cipher, done.stdout)
            assert (done.returncode == 0) == accepted, (cipher, done.stderr)


@pytest.mark.parametrize(
    ("certificate", "key", "status", "words"),
    [
        ("none.pem", "one.key", 66, "none.pem cannot be read"),
        ("one.pem", "none.key", 66, "none.key cannot be read"),
        ("text.pem", "one.key", 78, "text.pem cannot be used"),
        ("one.pem", "text.pem", 78, "text.pem cannot be used"),
        ("one.pem", "two.key", 78, "two.key does not belong to the certificate"),
        ("one.pem", "locked.key", 78, "not encrypted"),
    ],
)
def test_certificates_that_cannot_be_used(
    binary: str, certificates: Path, certificate: str, key: str, status: int, words: str
) -> None:
    arguments = [
        "--http",
        "127.0.0.1:0",
        "--device",
        "fake",
        "--tls-cert",
        str(certificates / certificate),
        "--tls-key",
        str(certificates / key),
    ]
    done = subprocess.run(
        [binary, "serve", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == status, done.stderr
    assert words in done.stderr
