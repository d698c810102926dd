-- wrk script: the tool call that arrives in the environment; prints one line of JSON at the end.
wrk.method = "POST"
wrk.path = "/mcp"
wrk.body = os.getenv("BENCH_BODY")
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Accept"] = "application/json, text/event-stream"
wrk.headers["MCP-Protocol-Version"] = "2026-07-28"
wrk.headers["Mcp-Method"] = "tools/call"
wrk.headers["Mcp-Name"] = "list_operators"

function done(summary, latency, requests)
   local errors = summary.errors
   io.write(string.format(
      '\n{"requests":%d,"seconds":%.6f,"bytes":%d,"errors":%d,"p50_ms":%.4f,"p99_ms":%.4f,"max_ms":%.4f}\n',
      summary.requests, summary.duration / 1e6, summary.bytes,
      errors.connect + errors.read + errors.write + errors.status + errors.timeout,
      latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency.max / 1e3))
end
