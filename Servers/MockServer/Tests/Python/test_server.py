"""The program as programs in other languages use it: python3 -m unittest test_server, with MOCK_SERVER=path of the program."""
import base64
import concurrent.futures
import glob
import http.client
import json
import os
import pty
import resource
import select
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
import unittest

PROGRAM = os.environ["MOCK_SERVER"]


class Server:
    """The program on a free port. At the end of a `with`, the process is always gone."""

    def __init__(self, *arguments, files=None, stdin=None):
        limit = files and (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)))
        self.process = subprocess.Popen(
            [PROGRAM, "--port", "0", *map(str, arguments)], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=limit)

    def __enter__(self):
        is_ready = select.select([self.process.stdout], [], [], 30)[0]
        line = self.process.stdout.readline() if is_ready else "It does not listen. "
        if not line.startswith("Listening on http://"):
            raise AssertionError(line + self.stop()[1])
        self.port = int(line.rsplit(":", 1)[1])
        return self

    def __exit__(self, *_):
        if self.process.returncode is None:
            self.code, self.errors = self.stop()

    def stop(self, number=signal.SIGTERM):
        """The exit status and what the program says about errors."""
        self.process.send_signal(number)
        try:
            errors = self.process.communicate(timeout=30)[1]
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"{signal.Signals(number).name} does not end it. " + self.process.communicate()[1])
        return self.process.returncode, errors

    def open_sockets(self):
        """The number of sockets, with those that listen. 0 where the system does not tell."""
        count = 0
        for path in glob.glob(f"/proc/{self.process.pid}/fd/*"):
            try:
                count += os.readlink(path).startswith("socket:")
            except FileNotFoundError:
                pass
        return count

    def request(self, method, path, body=None, headers={}, connection=None):
        own = None if connection else http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            (connection or own).request(method, path, body=body, headers=headers, encode_chunked=True)
            response = (connection or own).getresponse()
            return response, response.read()
        finally:
            if own:
                own.close()

    def control(self, method, path, value=None):
        body = None if value is None else json.dumps(value)
        response, data = self.request(method, "/__mock" + path, body, {"Content-Type": "application/json"})
        is_json = response.getheader("Content-Type") == "application/json"
        return response.status, json.loads(data) if is_json else data.decode()

    def stub(self, method, path, response, **members):
        status, answer = self.control("POST", "/stubs", {"method": method, "path": path, "response": response, **members})
        assert status == 201, answer
        return answer["id"]

    def raw(self, text, finish=False):
        """All that the server sends until it ends the connection."""
        def send(connection):
            try:
                connection.sendall(text.encode())
                if finish:
                    connection.shutdown(socket.SHUT_WR)
            except ConnectionError:
                pass

        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            with socket.create_connection(("127.0.0.1", self.port), timeout=30) as connection:
                pool.submit(send, connection)
                data = b""
                while part := connection.recv(65536):
                    data += part
                return data.decode("utf-8", "replace")


def fails(*arguments):
    result = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=30)
    return result.returncode, result.stdout, result.stderr


def har(*entries):
    log = {"version": "1.2", "creator": {"name": "test", "version": "1"}, "entries": [
        {
            "startedDateTime": "2026-01-01T00:00:00.000Z", "time": 1, "cache": {},
            "request": {"method": "GET", "url": url, "httpVersion": "HTTP/1.1", "headers": [], "queryString": [], "cookies": [],
                        "headersSize": -1, "bodySize": 0},
            "response": {"status": 200, "statusText": "OK", "httpVersion": "HTTP/1.1", "headers": [], "cookies": [], "redirectURL": "",
                         "headersSize": -1, "bodySize": -1, "content": {"size": len(text), "mimeType": "text/plain", "text": text}},
            "timings": {"send": 0, "wait": 1, "receive": 0},
        } for url, text in entries]}
    return json.dumps({"log": log})


class Stubs(unittest.TestCase):
    def test_a_stub_answers_and_its_uses_are_counted(self):
        with Server() as server:
            identifier = server.stub("GET", "/user", {"status": 200, "json": {"login": "octocat"}})
            response, body = server.request("GET", "/user")
            self.assertEqual((response.status, json.loads(body)), (200, {"login": "octocat"}))
            stubs = server.control("GET", "/stubs")[1]["stubs"]
            self.assertEqual([(stub["id"], stub["uses"]) for stub in stubs], [(identifier, 1)])

    def test_every_kind_of_response(self):
        with Server() as server:
            server.stub("GET", "/text", {"text": "Grüße", "headers": {"X-A": "b"}})
            server.stub("GET", "/bytes", {"base64": base64.b64encode(b"\0\xff").decode(), "status": 206})
            server.stub("GET", "/events", {"events": ["a", {"data": "b", "type": "t", "id": "1"}]})
            server.stub("GET", "/closed", {"fault": "close"})
            server.stub("GET", "/twice", [{"status": 503}, {"status": 204}])
            response, body = server.request("GET", "/text")
            self.assertEqual((body.decode(), response.getheader("X-A")), ("Grüße", "b"))
            self.assertEqual(response.getheader("Content-Type"), "text/plain; charset=utf-8")
            response, body = server.request("GET", "/bytes")
            self.assertEqual((response.status, body), (206, b"\0\xff"))
            response, body = server.request("GET", "/events")
            self.assertEqual(response.getheader("Content-Type"), "text/event-stream")
            self.assertIn(b"data: a\n\n", body)
            self.assertIn(b"data: b", body)
            with self.assertRaises((http.client.RemoteDisconnected, ConnectionResetError)):
                server.request("GET", "/closed")
            self.assertEqual([server.request("GET", "/twice")[0].status for _ in range(3)], [503, 204, 501])

    def test_a_delay_is_in_seconds(self):
        with Server() as server:
            server.stub("GET", "/slow", {"status": 204, "delay": 0.3})
            begun = time.monotonic()
            self.assertEqual(server.request("GET", "/slow")[0].status, 204)
            self.assertGreaterEqual(time.monotonic() - begun, 0.29)

    def test_what_a_stub_may_expect(self):
        with Server() as server:
            server.stub("POST", "/a", {"status": 201}, json={"n": 1})
            server.stub("POST", "/b", {"status": 201}, jsonContaining={"n": 1})
            server.stub("POST", "/c", {"status": 201}, form={"n": "1"})
            server.stub("GET", "/d/*/e/**", {"status": 201}, query={"q": ["1", "2"]}, headers={"X-A": "b"}, times=1)
            self.assertEqual(server.request("POST", "/a", '{ "n":1 }')[0].status, 201)
            self.assertEqual(server.request("POST", "/a", '{"n":1,"m":2}')[0].status, 501)
            self.assertEqual(server.request("POST", "/b", '{"n":1,"m":2}')[0].status, 201)
            form = {"Content-Type": "application/x-www-form-urlencoded"}
            self.assertEqual(server.request("POST", "/c", "n=1", form)[0].status, 201)
            self.assertEqual(server.request("GET", "/d/1/e/2/3?q=1&q=2")[0].status, 501)
            self.assertEqual(server.request("GET", "/d/1/e/2/3?q=1&q=2", headers={"X-A": "b"})[0].status, 201)
            self.assertEqual(server.request("GET", "/d/1/e/2/3?q=1&q=2", headers={"X-A": "b"})[0].status, 501)

    def post(self, server, text):
        response, body = server.request("POST", "/__mock/stubs", text, {"Content-Type": "application/json"})
        self.assertEqual(response.status, 201, body)

    def test_JSON_is_handed_on_as_it_was_written(self):
        with Server() as server:
            for text in ['{"z":1.0,"a":1.10, "n":12345678901234567890,"m":1E400,"a/b":"\\u00e9\\/"}', "12345678901234567890123", '"a"', "null", "[ 1.50 ]",
                         '{"json":{"json":1.0},"response":{"json":1.0}}', "[" * 200 + "]" * 200]:
                for stub in ['{"path":"/n","response":{"json":%s,"status":201}}', '{"response":[{"json": %s }],"path":"/n"}']:
                    with self.subTest(text=text):
                        self.post(server, stub % text)
                        response, body = server.request("GET", "/n")
                        self.assertEqual((body.decode(), response.getheader("Content-Type")), (text, "application/json"))
            # Only JSON is text, and no other member of such a name.
            self.post(server, '{"path":"/q","query":{"json":"1"},"headers":{"json":"2"},"form":{"json":"3"},"method":"POST","response":{"json":1.0}}')
            form = {"Content-Type": "application/x-www-form-urlencoded", "json": "2"}
            self.assertEqual(server.request("POST", "/q?json=1", "json=3", form)[1], b"1.0")

    def test_JSON_is_compared_by_its_digits(self):
        with Server() as server:
            for text, same, others in [("12345678901234567890", ["12345678901234567890", "1.2345678901234567890e19"], ["12345678901234567891"]),
                                       ("1.10", ["1.1", "1.10", "11e-1"], ["1.100000000000000001"]), ("1", ["1.0"], ["2", '"1"'])]:
                self.post(server, '{"path":"/a","method":"POST","json":{"n":%s},"response":{"status":204}}' % text)
                self.post(server, '{"path":"/b","method":"POST","jsonContaining":{"n":%s},"response":{"status":204}}' % text)
                for value in same:
                    self.assertEqual(server.request("POST", "/a", '{"n":%s}' % value)[0].status, 204)
                    self.assertEqual(server.request("POST", "/b", '{"m":1,"n":%s}' % value)[0].status, 204)
                for value in others:
                    self.assertEqual(server.request("POST", "/a", '{"n":%s}' % value)[0].status, 501)
                    self.assertEqual(server.request("POST", "/b", '{"m":1,"n":%s}' % value)[0].status, 501)
                server.control("DELETE", "")

    def test_the_last_of_an_array_may_repeat_and_a_number_of_requests_be_expected(self):
        with Server() as server:
            poll = [{"json": "pending"}, {"json": "pending"}, {"json": "done"}]
            server.stub("GET", "/poll", poll, repeatLast=True)
            self.assertEqual([json.loads(server.request("GET", "/poll")[1]) for _ in range(5)], ["pending"] * 2 + ["done"] * 3)
            server.stub("GET", "/once", poll)
            self.assertEqual([server.request("GET", "/once")[0].status for _ in range(4)], [200, 200, 200, 501])
            server.control("DELETE", "/requests")
            server.stub("POST", "/orders", {}, expecting=2)
            for status in [409, 200, 409]:
                server.request("POST", "/orders")
                self.assertEqual(server.control("GET", "/verify")[0], status)
            server.control("DELETE", "")
            server.stub("POST", "/never", {}, expecting=0)
            self.assertEqual(server.control("GET", "/verify")[0], 200)

    def test_answers_of_the_control_have_their_members_in_one_order(self):
        with Server() as server:
            server.request("POST", "/a", "b", {"X-B": "1", "X-A": "2"})
            texts = {server.request("GET", "/__mock/requests")[1] for _ in range(5)}
            self.assertEqual(len(texts), 1)
            members = json.loads(texts.pop(), object_pairs_hook=list)[1][1][0]
            self.assertEqual([name for name, _ in members], ["body", "bodySize", "headers", "method", "path", "url"])
            self.assertEqual(sorted(members[2][1]), members[2][1])

    def test_a_deleted_stub_answers_nothing_and_verify_does_not_ask_for_it(self):
        with Server() as server:
            first, second = server.stub("GET", "/a", {"text": "1"}), server.stub("GET", "/a", {"text": "2"})
            self.assertEqual(server.control("GET", "/verify")[0], 409)
            self.assertEqual(server.control("DELETE", f"/stubs/{second}")[0], 200)
            self.assertEqual(server.control("DELETE", f"/stubs/{second}")[0], 404)
            self.assertEqual(server.request("GET", "/a")[1], b"1")
            self.assertEqual(server.control("GET", "/verify")[0], 200)
            self.assertEqual(server.control("DELETE", f"/stubs/{first}")[0], 200)
            self.assertEqual(server.request("GET", "/a")[0].status, 501)
            status, report = server.control("GET", "/verify")
            self.assertEqual(status, 409)
            self.assertIn("GET http://localhost/a", report)

    def test_what_is_wrong_with_a_stub_is_named(self):
        with Server() as server:
            for stub, name in [
                ({"path": "/a", "response": {}, "colour": 1}, '"colour"'), ({"response": {}}, '"path"'), ({"path": "/a"}, '"response"'),
                ({"path": "a", "response": {}}, '"path"'), ({"path": "/a", "response": {"status": 99}}, '"status"'),
                ({"path": "http", "response": {}}, '"path"'), ({"path": "https:/a", "response": {}}, '"path"'),
                ({"path": "/a", "response": {"status": "200"}}, '"status"'), ({"path": "/a", "response": {"body": 1}}, '"body"'),
                ({"path": "/a", "response": {"json": 1, "text": "a"}}, "more than one"), ({"path": "/a", "response": []}, '"response"'),
                ({"path": "/a", "response": [{}, {"delai": 1}]}, 'response[1]: "delai"'),
                ({"path": "/a", "response": {"headers": {"X": "a\r\nY: b"}}}, '"X"'),
                ({"path": "/a", "response": {"headers": {"X\r\nY": "b"}}}, "header"),
                ({"path": "/a", "response": {"headers": {"X": 1}}}, '"headers"'), ({"path": "/a", "response": {"delay": -1}}, '"delay"'),
                ({"path": "/a", "response": {"delay": 1e300}}, '"delay"'), ({"path": "/a", "response": {"base64": "*"}}, '"base64"'),
                ({"path": "/a", "response": {"fault": "reset"}}, '"fault"'), ({"path": "/a", "response": {"fixture": "x"}}, '"fixture"'),
                ({"path": "/a", "response": {}, "times": -1}, '"times"'), ({"path": "/a", "response": {}, "json": 1, "form": {}}, '"json"'),
                ({"path": "/a", "response": {}, "method": "G T"}, '"method"'), ({"path": "/a", "response": {}, "query": 1}, '"query"'),
                ({"path": "/a", "response": {"events": [{"x": 1}]}}, '"x"'), ({"url": "/a", "response": {}}, '"url"'),
                ({"path": "/a", "response": {}, "expecting": -1}, '"expecting"'), ({"path": "/a", "response": {}, "repeatLast": 1}, '"repeatLast"'),
                ({"path": "/a", "response": {}, "headers": {"X": "\0"}}, '"X"'), ({"path": "/a", "response": {}, "headers": {"": "a"}}, '""'),
                ({"path": "/a", "response": {"events": [1]}}, '"events" of response'), ({"path": "/a", "response": {"events": [{"type": "a\nretry: 1"}]}}, '"type"'),
                ({"path": "/a", "response": {"events": ["a\nb", {"id": "1\r2"}]}}, '"id"'), ({"path": "/a", "response": {}, "times": 1.5}, '"times"'),
                ({"path": "/a", "response": {}, "query": {"a": [1]}}, '"query"'), ([], "object"), (None, "object"), ("a", "object"),
            ]:
                with self.subTest(stub=stub):
                    status, answer = server.control("POST", "/stubs", stub) if stub is not None else server.control("POST", "/stubs", "n")
                    self.assertEqual(status, 400)
                    self.assertIn(name, answer["error"])
            # Some clients send ISO-8859-1.
            response, body = server.request("POST", "/__mock/stubs", b'{"path":"/a","response":{"json":"\xe9"}}', {"Content-Type": "application/json"})
            self.assertEqual((response.status, b"UTF-8" in body), (400, True))
            # However deep it is.
            for text in [b"{", b'{"a":' * 300_000, b"[" * 300_000 + b"]" * 300_000, b'{"path":' * 100_000 + b"1" + b"}" * 100_000]:
                response, body = server.request("POST", "/__mock/stubs", text, {"Content-Type": "application/json"})
                self.assertEqual(response.status, 400)
            self.assertEqual(server.control("GET", "/stubs")[1]["stubs"], [])

    def test_a_stub_of_any_depth_is_soon_read_or_refused(self):
        with Server() as server:
            for text in ['{"a":' * 50_000 + "1" + "}" * 50_000, "[" * 50_000 + "]" * 50_000, '{"a":' * 50_000]:
                begun = time.monotonic()
                response, body = server.request("POST", "/__mock/stubs", text, {"Content-Type": "application/json"})
                self.assertEqual((response.status, "error" in json.loads(body)), (400, True))
                self.assertLess(time.monotonic() - begun, 10)

    def test_the_requests_are_listed_without_secrets(self):
        with Server() as server:
            server.stub("POST", "/login", {"status": 204})
            server.request(
                "POST", "/login?api_key=sEcr3tOfTheQuery", json.dumps({"user": "octocat", "password": "sEcr3tOfTheBody"}),
                {"Authorization": "Bearer sEcr3tOfTheField", "Cookie": "sid=sEcr3tOfTheCookie", "Content-Type": "application/json"})
            server.request("GET", "/other")
            answer = server.control("GET", "/requests?path=/login")[1]
            self.assertEqual([(one["method"], one["path"]) for one in answer["requests"]], [("POST", "/login")])
            self.assertIn("octocat", answer["requests"][0]["body"])
            self.assertEqual([one["path"] for one in server.control("GET", "/unmatched")[1]["requests"]], ["/other"])
            for path in ["/requests", "/unmatched", "/verify", "/stubs"]:
                self.assertNotIn("sEcr3t", json.dumps(server.control("GET", path)[1]))
            self.assertEqual(server.control("DELETE", "/requests")[0], 200)
            self.assertEqual(server.control("GET", "/requests")[1], {"requests": [], "removed": 0})
            self.assertEqual(server.control("GET", "/verify")[0], 200)
            self.assertEqual(server.control("GET", "/stubs")[1]["stubs"][0]["uses"], 1)
        self.assertEqual((server.code, server.errors), (0, ""))

    def test_a_question_that_is_not_understood_is_a_400_and_no_answer_to_another(self):
        with Server() as server:
            server.stub("GET", "/a b", {})
            server.stub("POST", "/a b", {})
            server.request("GET", "/a%20b")
            server.request("POST", "/a%20b")
            for query, count in [("path=/a%20b", 2), ("path=/a+b", 2), ("path=%2Fa%20b&method=POST", 1), ("method=GET", 1), ("path=/A%20B", 0)]:
                with self.subTest(query=query):
                    self.assertEqual(len(server.control("GET", f"/requests?{query}")[1]["requests"]), count)
            for path in ["/requests?paht=/a", "/requests?path=/a&times=1", "/requests?path=/a&path=/b", "/requests?path=a", "/requests?method=get",
                         "/unmatched?url=/a", "/verify?path=/a", "/stubs?path=/a", "/health?a", "/openapi.json?a=1"]:
                with self.subTest(path=path):
                    self.assertEqual(server.control("GET", path)[0], 400)
            for method, path, body in [("DELETE", "?path=/a", None), ("DELETE", "/requests?path=/a", None), ("DELETE", "/stubs/1?x", None),
                                       ("POST", "/stubs?times=2", {"path": "/b", "response": {}}), ("DELETE", "/requests", {"path": "/a"}),
                                       ("DELETE", "", {"stubs": [1]}), ("GET", "/requests", {"path": "/a"})]:
                with self.subTest(method=method, path=path, body=body):
                    status, answer = server.control(method, path, body)
                    self.assertEqual((status, "unknown" in answer["error"]), (400, True))
            self.assertEqual(len(server.control("GET", "/requests")[1]["requests"]), 2)
            self.assertEqual(len(server.control("GET", "/stubs")[1]["stubs"]), 2)
            self.assertEqual(server.control("DELETE", "/requests", {})[0], 200)

    def test_the_target_is_the_one_that_came(self):
        with Server() as server:
            server.stub("GET", "/s", {"text": "1"}, query={"q": "café"})
            for raw in '[]{}|^"<>\\`%':
                for target in [f"/s?ids{raw}=1&q=caf%C3%A9", f"/s?q=caf%C3%A9&{raw}{raw}", f"/s?q=caf%c3%a9&x={raw}2"]:
                    text = server.raw(f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                    with self.subTest(target=target):
                        self.assertIn(" 200 ", text.split("\r\n")[0])
            server.stub("GET", "/p/*/é", {"text": "2"})
            for raw in '[]{}|^"<>\\`%':
                text = server.raw(f"GET /p/{raw}/%C3%A9 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                self.assertIn(" 200 ", text.split("\r\n")[0])

    def test_a_plus_in_a_query_is_a_space_or_a_plus(self):
        with Server() as server:
            server.stub("GET", "/s", {"status": 200}, query={"q": "a b"})
            server.stub("GET", "/t", {"status": 200}, query={"q": "a+b"})
            for target, status in [("/s?q=a+b", 200), ("/s?q=a%20b", 200), ("/s?q=a%2Bb", 501), ("/t?q=a+b", 200), ("/t?q=a%2Bb", 200),
                                   ("/t?q=a%20b", 501)]:
                with self.subTest(target=target):
                    self.assertEqual(server.request("GET", target)[0].status, status)
            self.assertEqual([one["url"] for one in server.control("GET", "/requests")[1]["requests"]][0], "http://localhost/s?q=a+b")
            server.stub("GET", "/u", {}, query={"a b": "c"})
            self.assertIn("got       a b=d", server.request("GET", "/u?a+b=d")[1].decode())

    def test_a_long_list_of_requests_keeps_nobody_waiting(self):
        with Server() as server:
            body = json.dumps([{"id": index, "name": f"n{index}"} for index in range(2000)])
            for _ in range(20):
                server.request("POST", "/a", body, {"Content-Type": "application/json"})
            with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
                connection.sendall(b"GET /__mock/requests HTTP/1.1\r\nHost: localhost\r\n\r\n")
                count = 0
                while not select.select([connection], [], [], 0)[0]:
                    self.assertEqual(server.control("GET", "/health")[0], 200)
                    count += 1
            self.assertGreater(count, 5)

    def test_a_long_body_is_cut(self):
        with Server() as server:
            server.request("POST", "/a", b"a" * 100_000)
            [request] = server.control("GET", "/requests")[1]["requests"]
            self.assertEqual((len(request["body"]), request["bodySize"]), (65536, 100_000))

    def test_the_document_describes_each_path_and_each_member(self):
        with Server() as server:
            document = server.control("GET", "/openapi.json")[1]
            for path, operations in document["paths"].items():
                for method in ["GET", "POST", "PUT", "PATCH", "DELETE"]:
                    status, answer = server.control(method, path.removeprefix("/__mock").replace("{id}", "1"), {} if method == "POST" else None)
                    operation = operations.get(method.lower())
                    with self.subTest(method=method, path=path):
                        self.assertIn(str(status), operation["responses"] if operation else ["405"])
            self.assertEqual(server.control("GET", "/nothing")[0], 404)
            for name, values in {
                "Stub": {"method": "POST", "path": "/a", "query": {}, "headers": {}, "json": 1, "form": {}, "jsonContaining": {}, "times": 1,
                         "expecting": 1, "repeatLast": True, "response": {}},
                "Response": {"status": 200, "headers": {}, "json": 1, "text": "a", "base64": "", "fixture": "a", "events": [], "delay": 0,
                             "fault": "close"},
            }.items():
                self.assertEqual(set(document["components"]["schemas"][name]["properties"]), set(values))
                for member, value in values.items():
                    stub = {"path": "/a", "response": {}, member: value} if name == "Stub" else {"path": "/a", "response": {member: value}}
                    self.assertNotIn("unknown", str(server.control("POST", "/stubs", stub)[1]))


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, path, text):
        file = os.path.join(self.folder.name, path)
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "w") as output:
            output.write(text)
        return file

    def test_the_fixtures_of_a_folder_answer_and_no_file_outside(self):
        self.write("fixtures/a/b.json", '{"a": 1}')
        self.write("outside.json", '{"secret": 1}')
        root = os.path.join(self.folder.name, "fixtures")
        os.symlink("../outside.json", os.path.join(root, "link.json"))
        os.mkfifo(os.path.join(root, "pipe.json"))
        # The folder that was named may itself be a link.
        folder = os.path.join(self.folder.name, "linked")
        os.symlink("fixtures", folder)
        with Server(folder) as server:
            response, body = server.request("GET", "/a/b?page=1")
            self.assertEqual((response.getheader("Content-Type"), body), ("application/json", b'{"a": 1}'))
            response, body = server.request("HEAD", "/a/b")
            self.assertEqual((response.getheader("Content-Length"), body), ("8", b""))
            for path in ["/../outside", "/%2e%2e/outside", "/a/..%2f..%2foutside", "/link", "//etc/hostname", "/a%00"]:
                with self.subTest(path=path):
                    self.assertIn(server.request("GET", path)[0].status, [400, 404, 501])
            self.assertEqual(server.request("GET", "/link")[0].status, 404)
            self.assertEqual([server.request("GET", path)[0].status for path in ["/c", "/pipe"]], [501, 501])
            self.assertEqual(server.request("POST", "/a/b")[0].status, 501)
            server.stub("GET", "/c", {"fixture": "a/b.json", "status": 201})
            response, body = server.request("GET", "/c")
            self.assertEqual((response.status, response.getheader("Content-Type"), body), (201, "application/json", b'{"a": 1}'))
            for path in ["../outside.json", "%2e%2e/outside.json", "link.json", "/etc/hostname", "a/../../outside.json", "no.json", "a\0"]:
                with self.subTest(fixture=path):
                    status, _ = server.control("POST", "/stubs", {"path": "/d", "response": {"fixture": path}})
                    self.assertEqual(status, 400)
            server.control("DELETE", "")
            self.assertEqual(server.request("GET", "/c")[0].status, 501)
            self.assertEqual(server.request("GET", "/a/b")[0].status, 200)

    def test_a_list_of_stubs_answers_and_is_what_a_new_start_returns_to(self):
        file = self.write("stubs.json", '[{"path":"/a","response":{"json":1.0}},\n {"path":"/b","response":[{"status":503},{}],"repeatLast":true}]')
        with Server(file) as server:
            for _ in range(2):
                self.assertEqual(server.request("GET", "/a")[1], b"1.0")
                self.assertEqual([server.request("GET", "/b")[0].status for _ in range(3)], [503, 200, 200])
                stubs = server.control("GET", "/stubs")[1]["stubs"]
                self.assertEqual([stub["uses"] for stub in stubs], [1, 3])
                self.assertEqual(server.control("DELETE", f"/stubs/{stubs[0]['id']}")[0], 200)
                server.stub("GET", "/c", {})
                self.assertEqual([server.request("GET", path)[0].status for path in ["/a", "/c"]], [501, 200])
                server.control("DELETE", "")
        with Server(self.write("empty.json", "[]")) as server:
            self.assertEqual(server.request("GET", "/a")[0].status, 501)
        for text, part in [("{}", "bad.json: Wrong value: the stub must be an array"), ('[{"path":"/a"}]', 'stubs[0]: The stub has no "response"'), ('[{"path":"/a","response":{}},{"paht":"/a"}]', 'stubs[1]: "paht"'),
                           ("[\n{,]", "Line 2"), ('[{"path":"/a","response":{"status":"1"}}]', '"status" of response of stubs[0]')]:
            code, output, errors = fails(self.write("bad.json", text), "--port", 0)
            with self.subTest(text=text):
                self.assertEqual((code, output, errors.count("\n")), (1, "", 1))
                self.assertIn(part, errors)

    def test_a_large_fixture_is_read_while_it_is_sent(self):
        root = os.path.dirname(self.write("fixtures/small.json", "{}"))
        with open(os.path.join(root, "large.json"), "wb") as output:
            output.truncate(300 << 20)
        with Server(root) as server:
            server.stub("GET", "/stubbed", {"fixture": "large.json", "headers": {"Content-Type": "a/b"}})
            for path, kind in [("/large", "application/json"), ("/stubbed", "a/b")]:
                with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
                    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                    head, _, rest = connection.recv(65536).partition(b"\r\n\r\n")
                    self.assertIn(f"content-type: {kind}\r\ncontent-length: {300 << 20}".encode(), head.lower())
                    count = len(rest)
                    while count < 300 << 20:
                        count += len(connection.recv(1 << 20))
                self.assertEqual(count, 300 << 20)
            response, body = server.request("HEAD", "/large")
            self.assertEqual((response.getheader("Content-Length"), body), (str(300 << 20), b""))
            with open(f"/proc/{server.process.pid}/status") if os.path.exists("/proc") else open(os.devnull) as status:
                peaks = [int(line.split()[1]) for line in status if line.startswith("VmHWM")]
            self.assertLess(max(peaks, default=0), 200 << 10)

    def test_the_entries_of_a_recording_answer_by_path(self):
        file = self.write("a.har", har(("https://a.example/1", "one"), ("https://b.example/2", "two")))
        with Server(file) as server:
            self.assertEqual([server.request("GET", path)[1] for path in ["/1", "/2"]], [b"one", b"two"])
            self.assertEqual(server.request("GET", "/3")[0].status, 501)

    def test_a_browsers_raw_characters_in_a_recording_are_those_that_come(self):
        file = self.write("a.har", har(("https://a.example/x?ids[]=1&q=caf%C3%A9&r=a|b", "one"), ("https://a.example/100%/caf%C3%A9{1}", "two")))
        with Server(file) as server:
            for target, body in [("/x?ids[]=1&q=caf%C3%A9&r=a|b", "one"), ("/x?ids%5B%5D=1&q=caf%C3%A9&r=a%7Cb", "one"),
                                 ("/100%/caf%C3%A9{1}", "two"), ("/100%25/caf%C3%A9%7B1%7D", "two")]:
                with self.subTest(target=target):
                    text = server.raw(f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                    self.assertIn(f"\r\n{body}\r\n", text)

    def test_after_the_last_entry_of_a_request_the_last_answers_again(self):
        text = har(("https://a.example/1", "one"), ("https://a.example/1", "two"), ("https://a.example/2", "other"))
        file = self.write("a.har", text.replace('"GET"', '"POST"'))
        with Server(file) as server:
            self.assertEqual([server.request("POST", "/1")[1] for _ in range(4)], [b"one", b"two", b"two", b"two"])
            self.assertEqual([server.request("POST", "/2")[1] for _ in range(2)], [b"other", b"other"])
            self.assertEqual(server.request("POST", "/3")[0].status, 501)

    def test_a_path_with_two_slashes_names_no_fixture(self):
        self.write("fixtures/a/b.json", "{}")
        with Server(os.path.join(self.folder.name, "fixtures")) as server:
            for path in ["//a/b", "/a//b", "///a/b"]:
                response, body = server.request("GET", path)
                with self.subTest(path=path):
                    self.assertEqual(response.status, 501)
                    self.assertIn(path, body.decode())
            self.assertEqual(len(server.control("GET", "/unmatched")[1]["requests"]), 3)
            self.assertEqual(server.control("GET", "/verify")[0], 409)

    def test_two_origins_that_share_a_path_are_named(self):
        file = self.write("a.har", har(("https://a.example/1", "a"), ("https://b.example/1", "b")))
        code, _, errors = fails(file, "--port", 0)
        self.assertEqual(code, 1)
        self.assertIn("https://a.example", errors)
        self.assertIn("https://b.example", errors)
        with Server(file, "--origin", "https://b.example") as server:
            self.assertEqual(server.request("GET", "/1")[1], b"b")

    def test_a_file_that_cannot_be_served_is_a_sentence(self):
        for arguments, text in [
            ([self.write("a.har", "hello")], "a.har"), ([self.write("b.har", "{}")], "b.har"), (["/nowhere.har"], "There is no file"),
            ([os.path.dirname(self.write("empty/a.txt", ""))], "has no .json file"),
        ]:
            code, output, errors = fails(*arguments, "--port", 0)
            with self.subTest(arguments=arguments):
                self.assertEqual((code, output), (1, ""))
                self.assertIn(text, errors)
                self.assertEqual(errors.count("\n"), 1)

    def test_a_wrong_command_line_prints_its_usage(self):
        for arguments in [["--prot", "1"], ["--port"], ["--port", "65536"], ["a", "b"], ["--record", "http://a"],
                          ["a.har", "--record", "http://a", "--origin", "http://b"]]:
            code, output, errors = fails(*arguments)
            with self.subTest(arguments=arguments):
                self.assertEqual((code, output), (64, ""))
                self.assertIn("\nusage: mock-server", errors)
        self.assertEqual(fails("--help")[0], 0)

    def test_a_taken_port_is_a_sentence(self):
        def check(port):
            code, output, errors = fails("--port", port)
            self.assertEqual((code, output), (1, ""))
            self.assertIn("another program uses this port", errors)

        with Server() as server:
            check(server.port)
        try:
            with socket.create_server(("::1", 0), family=socket.AF_INET6) as other:
                check(other.getsockname()[1])
        except OSError:
            pass  # This machine has no IPv6.
        code, _, errors = fails("--host", "192.0.2.1", "--port", 0)
        self.assertEqual((code, "--port" in errors), (1, False))

    def test_localhost_is_this_machine_alone_and_what_is_no_host_is_a_sentence(self):
        for host in ["localhost", "LocalHost"]:
            with Server("--host", host) as server:
                self.assertEqual(server.control("GET", "/health")[0], 200)
                with self.assertRaises(OSError):
                    socket.create_connection(("127.0.0.2", server.port), timeout=1)
        for host in ["", "0", "127.1", "*", "a/b", "a b", "127.0.0.1:80", "[::1]", "http://a"]:
            code, output, errors = fails("--host", host, "--port", 0)
            with self.subTest(host=host):
                self.assertEqual((code, output), (1, ""))
                self.assertIn(f'"{host}" is no host', errors)

    def test_both_signals_end_it_with_0_as_soon_as_it_listens(self):
        def stop(number):
            with Server() as server:
                return server.stop(number)

        # Many at once, so that the threads of each start late.
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            self.assertEqual(set(pool.map(stop, [signal.SIGTERM, signal.SIGINT] * 50)), {(0, "")})

    def test_a_closed_terminal_ends_it_in_order(self):
        terminal, stdin = pty.openpty()
        self.addCleanup(os.close, terminal)
        with Server(stdin=stdin) as server:
            os.close(stdin)
            self.assertEqual(server.stop(signal.SIGHUP), (0, ""))

    def test_traffic_is_recorded_through_the_port_and_replayed(self):
        file = os.path.join(self.folder.name, "new.har")
        with Server() as upstream:
            upstream.stub("GET", "/user", {"json": {"login": "octocat", "access_token": "sEcr3tOfTheServer"}})
            with Server(file, "--record", f"http://127.0.0.1:{upstream.port}") as recorder:
                response, body = recorder.request("GET", "/user", headers={"Authorization": "Bearer sEcr3tOfTheClient"})
                self.assertEqual(json.loads(body)["login"], "octocat")
        self.assertEqual((recorder.code, recorder.errors), (0, ""))
        with open(file) as recorded:
            self.assertNotIn("sEcr3t", recorded.read())
        with Server(file) as server:
            response, body = server.request("GET", "/user", headers={"Authorization": "Bearer x"})
            self.assertEqual(json.loads(body)["login"], "octocat")

    def test_a_request_that_the_recorded_server_does_not_answer_is_a_502_and_in_no_file(self):
        file = os.path.join(self.folder.name, "new.har")
        with Server() as upstream:
            upstream.stub("GET", "/good", {"text": "good"})
            upstream.stub("GET", "/closed", {"fault": "close"})
            with Server(file, "--record", f"http://127.0.0.1:{upstream.port}") as recorder:
                recorder.stub("GET", "/stubbed", {"fault": "close"})
                with self.assertRaises((http.client.RemoteDisconnected, ConnectionResetError)):
                    recorder.request("GET", "/stubbed")
                response, body = recorder.request("GET", "/closed")
                self.assertEqual(response.status, 502)
                self.assertIn("/closed", body.decode())
                self.assertEqual(recorder.request("GET", "/good")[1], b"good")
        self.assertEqual(recorder.code, 0)
        self.assertIn("/closed", recorder.errors.splitlines()[0])
        self.assertEqual(recorder.errors.splitlines()[-1], "mock-server: new.har was written without 1 of 2 requests, which had no answer.")
        with open(file) as recorded:
            content = recorded.read()
        self.assertEqual([entry["request"]["url"].rsplit("/")[-1] for entry in json.loads(content)["log"]["entries"]], ["good"])
        # The server is down now.
        with Server(file, "--record", f"http://127.0.0.1:{upstream.port}") as recorder:
            self.assertEqual([recorder.request("GET", "/good")[0].status for _ in range(2)], [502, 502])
        self.assertEqual(recorder.code, 1)
        self.assertEqual(recorder.errors.splitlines()[-1], "mock-server: new.har was not written, because the server answered no request.")
        with open(file) as recorded:
            self.assertEqual(recorded.read(), content)

    def test_cookies_of_one_client_are_not_sent_for_another_while_recording(self):
        with Server() as upstream:
            upstream.stub("GET", "/login", {"headers": {"Set-Cookie": "sid=1; Path=/"}})
            upstream.stub("GET", "/me", {})
            with Server(os.path.join(self.folder.name, "new.har"), "--record", f"http://127.0.0.1:{upstream.port}") as recorder:
                self.assertEqual(recorder.request("GET", "/login")[0].getheader("Set-Cookie"), "sid=1; Path=/")
                recorder.request("GET", "/me")
                recorder.request("GET", "/me", headers={"Cookie": "other=2"})
            sent = [one["headers"] for one in upstream.control("GET", "/requests?path=/me")[1]["requests"]]
            self.assertEqual([fields.get("Cookie") for fields in sent], [None, "…"])

    def test_an_answer_that_was_cut_off_is_cut_off_in_each_replay(self):
        def check(server):
            with self.assertRaises(http.client.IncompleteRead) as error:
                server.request("GET", "/cut")
            self.assertEqual((error.exception.partial, error.exception.expected), (b"half", 96))
            # This client leaves.
            with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
                connection.sendall(b"GET /left HTTP/1.1\r\nHost: localhost\r\n\r\n")
                text = b""
                while b"data: a" not in text:
                    text += connection.recv(1000)
                self.assertIn(b"Content-Length: 9000\r\n", text)

        file = os.path.join(self.folder.name, "new.har")
        with Server() as upstream:
            upstream.stub("GET", "/cut", {"text": "half", "headers": {"Content-Length": "100"}})
            upstream.stub("GET", "/left", {"events": ["a"] * 1000, "delay": 0.05, "headers": {"Content-Length": "9000"}})
            with Server(file, "--record", f"http://127.0.0.1:{upstream.port}") as recorder:
                check(recorder)
        with Server(file) as server:
            check(server)

    def test_what_is_recorded_is_not_lost_at_the_end(self):
        for file in [os.path.join(self.folder.name, "nowhere/a.har"), os.path.join(self.write("a.txt", ""), "a.har"),
                     os.path.dirname(self.write("folder.har/a.txt", ""))]:
            code, output, errors = fails(file, "--record", "http://127.0.0.1:9", "--port", 0)
            with self.subTest(file=file):
                self.assertEqual((code, output), (1, ""))
                self.assertIn("cannot be written", errors)
        with Server() as upstream:
            code, output, errors = fails(os.path.join(self.folder.name, "a.har"), "--record", "http://127.0.0.1:9", "--port", upstream.port)
            self.assertEqual((code, output), (1, ""))
            self.assertIn("a.har was not written, because --record has failed.", errors)
            upstream.stub("GET", "/a", {"text": "a"})
            upstream.stub("GET", "/closed", {"fault": "close"})
            origin = f"http://127.0.0.1:{upstream.port}"
            file = os.path.join(self.folder.name, "a.har")
            with Server(file, "--record", origin) as recorder:
                recorder.request("GET", "/a")
                recorder.stub("GET", "/never", {})
                # Neither does anybody who wants to start anew lose it,
                self.assertEqual(recorder.control("DELETE", "")[0], 409)
                self.assertEqual(recorder.control("DELETE", "/requests")[0], 200)
                # nor a reader that has gone.
                recorder.process.stdout.close()
                recorder.process.stderr.close()
                self.assertEqual(recorder.request("GET", "/closed")[0].status, 502)
                recorder.process.send_signal(signal.SIGTERM)
                self.assertEqual(recorder.process.wait(30), 0)
            with Server(file) as server:
                self.assertEqual(server.request("GET", "/a")[1], b"a")
            # A folder that has gone is made anew.
            gone = os.path.join(self.folder.name, "gone")
            os.mkdir(gone)
            with Server(os.path.join(gone, "b.har"), "--record", origin) as recorder:
                recorder.request("GET", "/a")
                os.rmdir(gone)
            self.assertEqual((recorder.code, recorder.errors), (0, ""))
            with Server(os.path.join(gone, "b.har")) as server:
                self.assertEqual(server.request("GET", "/a")[1], b"a")

    def test_a_file_of_somebody_else_is_not_written_over_also_one_written_meanwhile(self):
        other = har(("https://a.example/1", "one"))
        code, output, errors = fails(self.write("old.har", other), "--record", "http://127.0.0.1:9", "--port", 0)
        self.assertEqual((code, output), (1, ""))
        self.assertIn("old.har is no recording of a test, and is not written over.", errors)
        file = os.path.join(self.folder.name, "new.har")
        with Server() as upstream:
            upstream.stub("GET", "/a", {"text": "a"})
            with Server(file, "--record", f"http://127.0.0.1:{upstream.port}") as recorder:
                recorder.request("GET", "/a")
                self.write("new.har", other)
        self.assertEqual(recorder.code, 1)
        self.assertIn("new.har is no recording of a test, and is not written over.", recorder.errors)
        with open(file) as kept:
            self.assertEqual(kept.read(), other)

    def test_a_recording_that_is_not_written_is_an_error(self):
        file = os.path.join(self.folder.name, "new.har")
        with Server(file, "--record", "http://127.0.0.1:9"):
            pass
        with Server(file, "--record", "http://127.0.0.1:9") as recorder:
            pass
        self.assertEqual(recorder.code, 1)
        self.assertTrue(recorder.errors.startswith("mock-server: "))
        self.assertFalse(os.path.exists(file))

    def test_an_error_and_a_report_say_their_reason_also_of_names_that_Swift_has(self):
        words = ["provider", "payment-provider. URLSession", "hiding: [a]", "repeating:", "MockURLProtocol.stub(", "paste this.", "a. Hide it"]
        with Server() as upstream:
            upstream.stub("GET", "/closed", {"fault": "close"})
            for word in words:
                file = os.path.join(self.folder.name, f"{word}.har")
                with self.subTest(word=word):
                    self.assertEqual(fails(file)[::2], (1, f"mock-server: There is no file or folder {file}.\n"))
                    with Server(file, "--record", f"http://127.0.0.1:{upstream.port}") as recorder:
                        self.assertEqual(recorder.request("GET", "/closed")[0].status, 502)
                    self.assertIn(f"{word}.har was not written, because the server answered no request.", recorder.errors)
                    with Server(file, "--record", "http://127.0.0.1:9") as recorder:
                        pass
                    self.assertIn(f"{word}.har was set up, but no request has reached this mock.", recorder.errors)
                    self.write(f"{word}.har", har(("https://a.example/1", "one")))
                    self.assertIn(f"{word}.har is no recording of a test", fails(file, "--record", "http://127.0.0.1:9")[2])
                    self.write(f"{word}.har", "{")
                    self.assertIn(f"{word}.har", fails(file)[2])
        with Server() as server:
            for word in words:
                server.stub("GET", f"/{word}/1", {"status": 204})
            report = server.control("GET", "/verify")[1]
            self.assertEqual(report.count(" was never used."), len(words), report)
            for word in words:
                response, body = server.request("POST", "/" + word.replace(" ", "%20"), f"{word}\n{word}")
                with self.subTest(word=word):
                    self.assertEqual(response.status, 501)
                    self.assertIn(f"POST http://localhost/{word.replace(' ', '%20')}"[:20], body.decode())
                    self.assertGreaterEqual(body.decode().count(word), 2, body.decode())

    def test_nothing_is_said_that_only_a_test_in_Swift_could_do(self):
        words = ["hiding:", "editing:", "comparing:", "forAnyHost:", "ignoring:", "repeating:", "MockURLProtocol.", "DefaultAPIProvider", "paste this", "\n\n\n"]
        file = os.path.join(self.folder.name, "new.har")
        with Server() as upstream:
            upstream.stub("GET", "/a", {"json": {"handle": "q8Zr2Lw0Xn5Ty7Ub3Vc9aB"}})
            with Server(file, "--record", f"http://127.0.0.1:{upstream.port}") as recorder:
                recorder.request("GET", "/a")
        with Server(os.path.join(self.folder.name, "none.har"), "--record", "http://127.0.0.1:9") as nothing:
            pass
        self.assertIn("handle", recorder.errors)
        self.assertIn("no request has reached", nothing.errors)
        texts = [recorder.errors, nothing.errors]
        for arguments in [[], [file], [file, "--origin", "http://other.example"]]:
            with Server(*arguments) as server:
                server.stub("GET", "/once", [{}])
                server.request("GET", "/once")
                server.stub("GET", "/never", {})
                texts.append(server.control("GET", "/verify")[1])
                texts += [server.request(method, path, "ignoring: the body stays")[1].decode() for method, path in
                          [("GET", "/once"), ("GET", "/b"), ("POST", "/a"), ("GET", "/a?b=4f0c2a52-1d5b-4a4e-9d07-0f9f1a0c8a11")]]
                texts.append(server.control("GET", "/verify")[1])
                for text in texts[-5:]:
                    if "no answer for this request" in text:
                        self.assertTrue(text.endswith(f"to http://127.0.0.1:{server.port}. GET /__mock/openapi.json describes it.\n"), text)
                        self.assertIn("stays", text)
        for text in texts:
            for word in words:
                self.assertNotIn(word, text.replace("ignoring: the body", ""), text)


class Pages(unittest.TestCase):
    """What a browser sends."""

    def test_an_allowed_origin_may_end_with_a_slash_and_have_no_path(self):
        with Server("--allow-origin", "HTTPS://App.example/") as server:
            self.assertEqual(server.request("GET", "/__nothing", headers={"Origin": "https://app.example"})[0].status, 501)
            self.assertEqual(server.request("GET", "/__nothing", headers={"Origin": "https://app.example.com"})[0].status, 403)
        for origin in ["https://app.example/path", "app.example", "*", ""]:
            code, _, errors = fails("--allow-origin", origin)
            self.assertEqual((code, "is no origin" in errors), (64, True))

    def test_a_page_of_this_machine_may_send_requests(self):
        with Server("--allow-origin", "https://app.example") as server:
            server.stub("PUT", "/a", {"status": 200, "text": "a", "headers": {"X-Total": "1", "Access-Control-Allow-Origin": "https://x"}})
            for origin in ["http://localhost:3000", "http://127.0.0.1:3000", "http://[::1]:3000", "https://app.example", "capacitor://localhost"]:
                response, _ = server.request("OPTIONS", "/a", headers={
                    "Origin": origin, "Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "x-a,content-type"})
                self.assertEqual(response.status, 204)
                self.assertEqual(response.getheader("Access-Control-Allow-Origin"), origin)
                self.assertEqual(response.getheader("Access-Control-Allow-Methods"), "PUT")
                self.assertEqual(response.getheader("Access-Control-Allow-Headers"), "x-a,content-type")
                response, body = server.request("PUT", "/a", "b", {"Origin": origin})
                self.assertEqual((response.status, body), (200, b"a"))
                self.assertEqual(response.getheader("Access-Control-Allow-Origin"), origin)
                self.assertEqual(response.getheader("Access-Control-Allow-Credentials"), "true")
                self.assertIn("X-Total", response.getheader("Access-Control-Expose-Headers"))
                self.assertIn("Origin", response.getheader("Vary"))
                response, body = server.request("GET", "/nothing", headers={"Origin": origin})
                self.assertEqual((response.status, response.getheader("Access-Control-Allow-Origin")), (501, origin))

    def test_the_page_of_anybody_else_may_not_and_the_mock_sees_nothing(self):
        with Server() as server:
            for headers in [
                {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": "http://localhost.evil.example"},
                {"Origin": "http://127.0.0.1.evil.example"}, {"Origin": "http://192.168.1.2"}, {"Origin": ""},
                {"Sec-Fetch-Site": "cross-site"},
            ]:
                for method in ["GET", "POST", "OPTIONS"]:
                    response, body = server.request(method, "/a", "b" if method == "POST" else None, headers)
                    with self.subTest(method=method, headers=headers):
                        self.assertEqual(response.status, 403)
                        self.assertIsNone(response.getheader("Access-Control-Allow-Origin"))
            self.assertEqual(server.control("GET", "/requests")[1]["requests"], [])

    def test_no_page_may_use_the_control(self):
        with Server() as server:
            stub = json.dumps({"path": "/a", "response": {}})
            json_type = {"Content-Type": "application/json"}
            for headers, status in [({"Origin": "http://localhost:3000", **json_type}, 403), ({"Content-Type": "text/plain"}, 415),
                                    ({}, 415), *(({"Sec-Fetch-Site": site, **json_type}, 403) for site in ["cross-site", "same-site", "Same-Origin", ""])]:
                self.assertEqual(server.request("POST", "/__mock/stubs", stub, headers)[0].status, status)
            self.assertEqual(server.request("DELETE", "/__mock")[0].status, 415)
            self.assertEqual(server.request("GET", "/__mock/requests", headers={"Origin": "http://localhost"})[0].status, 403)
            # A page that this server has served sends no Origin, and who types the address is no page.
            self.assertEqual(server.request("GET", "/__mock/requests", headers={"Sec-Fetch-Site": "same-origin"})[0].status, 403)
            self.assertEqual(server.request("GET", "/__mock/requests", headers={"Sec-Fetch-Site": "none"})[0].status, 200)
            self.assertEqual(server.control("GET", "/stubs")[1]["stubs"], [])

    def test_a_foreign_host_is_refused(self):
        with Server() as server:
            for host in ["evil.example", "localhost.evil.example", "1.2.3.4.evil.example", "999.1.1.1", "", "[::1]evil.example", "[evil.example]",
                         "localhost:evil.example", "localhost@evil.example", "localhost\r\nHost: evil.example", "::1:80", "[::1", "[::1]:80:80"]:
                self.assertIn(" 403 ", server.raw(f"GET /__mock/health HTTP/1.1\r\nHost: {host}\r\n\r\n").split("\r\n")[0])
            self.assertIn(" 403 ", server.raw("GET / HTTP/1.1\r\n\r\n").split("\r\n")[0])
            for host in ["localhost", "LOCALHOST:1", "127.0.0.1:1", "[::1]:1", "10.0.2.2:8080"]:
                text = server.raw(f"GET /__mock/health HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
                self.assertIn(" 200 ", text.split("\r\n")[0])
        with Server("--host", "mymac.local") as server:
            text = server.raw("GET /__mock/health HTTP/1.1\r\nHost: MyMac.local:1\r\nConnection: close\r\n\r\n")
            self.assertIn(" 200 ", text.split("\r\n")[0])


class Connections(unittest.TestCase):
    def test_a_kept_connection_does_not_wait_for_acknowledgements(self):
        with Server() as server:
            server.stub("GET", "/a", {"text": "a"})
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
            self.addCleanup(connection.close)
            times = []
            for _ in range(50):
                begun = time.monotonic()
                self.assertEqual(server.request("GET", "/a", connection=connection)[1], b"a")
                times.append(time.monotonic() - begun)
            # A late acknowledgement delays each by 40 ms, but for the first ones, which a system acknowledges at once.
            self.assertLess(min(times[25:]), 0.03)

    def test_two_cookies_are_two_fields(self):
        with Server() as server:
            server.stub("GET", "/a", {"headers": {"Set-Cookie": "a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT, b=2"}})
            response, _ = server.request("GET", "/a")
            self.assertEqual(response.headers.get_all("Set-Cookie"), ["a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "b=2"])

    def test_a_cookie_of_the_served_origin_is_one_that_a_client_of_this_machine_keeps(self):
        with Server("--origin", "https://api.example.com") as server:
            for field, expected in [
                ("a=1; Path=/; Domain=api.example.com; HttpOnly", "a=1; Path=/; HttpOnly"), ("a=1;domain=.Example.com", "a=1"),
                ("a=1; Domain=other.com; Path=/", "a=1; Domain=other.com; Path=/"), ("a=1; Domain=ample.com", "a=1; Domain=ample.com"),
                ("a=1; Secure; SameSite=None; Path=/", "a=1; Path=/"), ("a=1; secure; SameSite=Lax", "a=1; SameSite=Lax"),
                ("a=1; SameSite=None", "a=1; SameSite=None"), ("__Host-a=1; Secure; Path=/", "__Host-a=1; Secure; Path=/"),
                ("__Secure-a=1; Secure; SameSite=None; Domain=example.com", "__Secure-a=1; Secure; SameSite=None"),
                ("secure=secure; Path=/", "secure=secure; Path=/"), ("domain=a", "domain=a"),
            ]:
                server.stub("GET", "/a", {"headers": {"Set-Cookie": field}})
                with self.subTest(field=field):
                    self.assertEqual(server.request("GET", "/a")[0].getheader("Set-Cookie"), expected)

    def test_links_to_the_served_origin_lead_here_also_without_a_scheme(self):
        with Server("--origin", "https://api.example.com:8443") as server:
            here = f"127.0.0.1:{server.port}"
            for name, field, expected in [
                ("Location", "//api.example.com:8443/a?b=//api.example.com:8443", f"//{here}/a?b=//api.example.com:8443"),
                ("Location", "https://API.example.com:8443/a", f"http://{here}/a"), ("Location", "//api.example.com/a", "//api.example.com/a"),
                ("Location", "/a//api.example.com:8443/", "/a//api.example.com:8443/"),
                ("Link", '<//api.example.com:8443/a>; rel="next", <//api.example.com:84430/>', f'<//{here}/a>; rel="next", <//api.example.com:84430/>'),
            ]:
                server.stub("GET", "/a", {"status": 302, "headers": {name: field}})
                with self.subTest(field=field):
                    self.assertEqual(server.request("GET", "/a")[0].getheader(name), expected)

    def test_a_large_body_arrives(self):
        with Server() as server:
            body = json.dumps({"a": "b" * 20_000_000})
            server.stub("POST", "/a", {"status": 204}, jsonContaining={})
            self.assertEqual(server.request("POST", "/a", body)[0].status, 204)
            self.assertEqual(server.request("POST", "/a", iter([b'{"a":', b"1}"]), {"Transfer-Encoding": "chunked"})[0].status, 204)
            self.assertEqual([one["bodySize"] for one in server.control("GET", "/requests")[1]["requests"]], [len(body), 7])

    def test_a_body_over_64_MB_is_a_413_and_the_server_goes_on(self):
        with Server() as server:
            size = 100 << 20
            response, _ = server.request("POST", "/a", b"a" * size)
            self.assertEqual((response.status, response.getheader("Connection")), (413, "close"))
            chunks = (b"a" * (1 << 20) for _ in range(70))
            self.assertEqual(server.request("POST", "/a", chunks, {"Transfer-Encoding": "chunked"})[0].status, 413)
            # It is told before the body is sent.
            with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
                connection.sendall(f"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {size}\r\n\r\n".encode())
                self.assertIn(b" 413 ", connection.recv(100))
            self.assertEqual(server.control("GET", "/requests")[1]["requests"], [])
            response, _ = server.request("POST", "/a", b"a" * size, {"Origin": "http://localhost:3000"})
            self.assertEqual((response.status, response.getheader("Access-Control-Allow-Origin")), (413, "http://localhost:3000"))
            text = server.raw("HEAD /a HTTP/1.1\r\nHost: evil.example\r\n\r\n")
            self.assertEqual((text[:13], text[-4:]), ("HTTP/1.1 403 ", "\r\n\r\n"))

    def test_a_refused_body_is_not_read_as_the_next_request(self):
        with Server() as server:
            inner = "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"
            for size in [len(inner), 5000, 3 << 20]:
                body = inner + "a" * (size - len(inner))
                for head in [f"Content-Length: {len(body)}\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(body)]:
                    text = server.raw(f"POST / HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\n{head}{body}", finish=True)
                    self.assertEqual(text.count("HTTP/1.1"), 1)
                    self.assertIn(" 403 ", text)
            self.assertEqual(server.control("GET", "/requests")[1]["requests"], [])

    def test_a_client_that_waits_is_told_to_go_on(self):
        with Server() as server:
            server.stub("POST", "/a", {"status": 204})
            with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
                connection.sendall(b"POST /a HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 9000\r\n\r\n")
                self.assertEqual(connection.recv(100), b"HTTP/1.1 100 Continue\r\n\r\n")
                connection.sendall(b"a" * 9000)
                self.assertIn(b" 204 ", connection.recv(100))

    def test_a_client_is_told_to_go_on_only_if_it_waits_with_a_body(self):
        with Server() as server:
            for method in ["GET", "POST"]:
                server.stub(method, "/a", {"status": 204})
            for head, count in [("POST /a HTTP/1.1\r\nContent-Length: 3\r\nExpect: 100-Continue", 1), ("POST /a HTTP/1.0\r\nContent-Length: 3\r\nExpect: 100-continue", 0),
                                ("GET /a HTTP/1.1\r\nExpect: 100-continue", 0), ("POST /a HTTP/1.1\r\nContent-Length: 3\r\nExpect: other", 0),
                                ("POST /a HTTP/1.1\r\nContent-Length: 3\r\nExpect: 100-continue\r\nOrigin: https://evil.example", 0)]:
                body = "abc" if "POST" in head else ""
                text = server.raw(f"{head}\r\nHost: localhost\r\nConnection: close\r\n\r\n{body}")
                with self.subTest(head=head):
                    self.assertEqual((text.count(" 100 Continue"), text.count("HTTP/1.1 204")), (count, 0 if "evil" in head else 1))

    def test_what_cannot_be_read_is_a_400_with_a_sentence(self):
        with Server() as server:
            server.stub("POST", "/a", {})
            host, length = "Host: localhost\r\n", "Content-Length: 3\r\n"
            for text, part in [
                (f"POST /a HTTP/1.1\r\n{host}{length}Content-Length: 4\r\n\r\nabcd", ""), (f"POST /a HTTP/1.1\r\n{host}{length}{length}\r\nabc", ""),
                (f"POST /a HTTP/1.1\r\n{host}Content-Length: 3, 3\r\n\r\nabc", ""), (f"POST /a HTTP/1.1\r\n{host}Content-Length: +3\r\n\r\nabc", ""),
                (f"POST /a HTTP/1.1\r\n{host}{length}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", ""),
                (f"POST /a HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n{length}\r\n0\r\n\r\n", ""),
                (f"POST /a HTTP/1.1\r\n{host}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", ""),
                (f"POST /a HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n", "body"), (f"GET /a HTTP/1.1\n{host}\n", ""),
                (f"GET /a HTTP/1.1\r\n{host}X: a\r\n b\r\n\r\n", ""), (f"GET /a HTTP/1.1\r\n{host}X: a\0b\r\n\r\n", ""), ("GET /a\r\n\r\n", ""),
                (f"GET /\u00e9 HTTP/1.1\r\n{host}\r\n", "ASCII"), (f"get /a HTTP/1.1\r\n{host}\r\n", "capital letters"), (f"GET / HTTP/2.0\r\n{host}\r\n", ""),
                ("\x16\x03\x01\0\xa5\x01\0\0\xa1\x03\x03", "TLS"), (f"GET http://localhost/ HTTP/1.1\r\n{host}\r\n", "slash"), ("GET / HT", ""),
                (f"POST /a HTTP/1.1\r\n{host}Content-Length: 30\r\n\r\nabc", "body"), (f"OPTIONS * HTTP/1.1\r\n{host}\r\n", "slash"),
            ]:
                answer = server.raw(text, finish=True)
                with self.subTest(text=text):
                    self.assertEqual((answer[:13], answer.count("HTTP/1.1")), ("HTTP/1.1 400 ", 1))
                    self.assertIn("\r\nConnection: close\r\n", answer)
                    self.assertIn(part, answer.partition("\r\n\r\n")[2])
            self.assertIn(" 501 ", server.raw(f"POST /a HTTP/1.1\r\n{host}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n")[:13])
            self.assertEqual(server.control("GET", "/requests")[1]["requests"], [])

    def test_large_heads_pass_or_are_a_431(self):
        with Server() as server:
            server.stub("GET", "/a", {"status": 204})
            for fields, status in [("X: " + "a" * 8_000, 204), ("Cookie: " + "; ".join(f"name{i}={'v' * 90}" for i in range(650)), 204), ("X: " + "a" * 90_000, 431),
                                   ("\r\n".join(f"X-{i}: a" for i in range(250)), 204), ("\r\n".join(f"X-{i}: a" for i in range(300)), 431),
                                   ("\r\n".join(f"X-{i}: {'a' * 20_000}" for i in range(150)), 431)]:
                begun = time.monotonic()
                answer = server.raw(f"GET /a HTTP/1.1\r\nHost: localhost\r\n{fields}\r\nConnection: close\r\n\r\n")
                with self.subTest(fields=fields[:30]):
                    self.assertIn(f"HTTP/1.1 {status} ", answer)
                    self.assertLess(time.monotonic() - begun, 5)
            self.assertIn(" 431 ", server.raw(f"GET /{'a' * 90_000} HTTP/1.1\r\nHost: localhost\r\n\r\n")[:13])

    def test_answers_come_in_the_order_of_pipelined_requests(self):
        with Server() as server:
            server.stub("GET", "/slow", {"text": "slow", "delay": 0.2})
            server.stub("GET", "/fast", {"text": "fast"})
            requests = [f"GET /{path} HTTP/1.1\r\nHost: localhost\r\n" for path in ["slow", "fast", "slow"]]
            text = server.raw("\r\n".join(requests) + "\r\nnonsense\r\n\r\n")
            self.assertEqual([line[:4] for line in text.split("\r\n\r\n")[1:4]], ["slow", "fast", "slow"])
            self.assertEqual((text.count("HTTP/1.1 200 "), text.count("HTTP/1.1 400 ")), (3, 1))
            # What cannot be read is no HEAD, also behind one.
            text = server.raw("HEAD /fast HTTP/1.1\r\nHost: localhost\r\n\r\nnonsense\r\n\r\n")
            self.assertIn("The request cannot be read", text)
            # What stands behind the last request of a connection is no request.
            text = server.raw(requests[1] + "Connection: close\r\n\r\n" + requests[1] + "\r\n")
            self.assertEqual(text.count("HTTP/1.1"), 1)
            text = server.raw(requests[1] + "Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n" + requests[1] + "\r\n")
            self.assertEqual((text.count("HTTP/1.1"), text.endswith("fast")), (1, True))
            # Neither is what stands behind a request for a tunnel.
            text = server.raw("CONNECT /fast HTTP/1.1\r\nHost: localhost\r\n\r\n" + requests[1] + "\r\n")
            self.assertEqual((text.count("HTTP/1.1"), text[:13]), (1, "HTTP/1.1 501 "))

    def test_a_client_may_finish_sending_before_it_reads(self):
        with Server() as server:
            server.stub("POST", "/a", {"text": "late", "delay": 0.2})
            text = server.raw("POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc", finish=True)
            self.assertTrue(text.endswith("late"))

    @unittest.skipUnless(shutil.which("curl"), "There is no curl.")
    def test_curl_that_asks_for_HTTP_2_waits_with_its_body_or_sends_letters_is_answered(self):
        with Server() as server:
            server.stub("POST", "/a", {"text": "done"})
            server.stub("GET", "/a", {"text": "found"}, query={"q": "é b"})
            body = os.path.join(tempfile.gettempdir(), f"body-{server.port}")
            with open(body, "wb") as output:
                output.truncate(3 << 20)
            self.addCleanup(os.remove, body)
            for arguments, text in [(["--http2", "--data", "abc"], "done"), (["--http2", "--data-binary", f"@{body}"], "done"),
                                    (["--header", "Expect: 100-continue", "--data", "abc"], "done"), (["--http1.0", "--data", "abc"], "done"),
                                    (["--get", "--data-urlencode", "q=é b"], "found")]:
                command = ["curl", "--silent", "--show-error", "--max-time", "20", *arguments, f"http://127.0.0.1:{server.port}/a"]
                result = subprocess.run(command, capture_output=True, text=True)
                with self.subTest(arguments=arguments):
                    self.assertEqual((result.stdout, result.stderr), (text, ""))

    def test_fields_of_one_name_are_joined_and_bytes_of_other_charsets_pass(self):
        with Server() as server:
            server.stub("GET", "/a", {"status": 204}, headers={"Accept": "a/b, c/d"})
            with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
                connection.sendall(b"GET /a HTTP/1.1\r\nHost: localhost \r\nAccept:  a/b \r\nAccept:c/d \t\r\nX-Name: Jos\xe9\r\nCookie: a=1\r\nCookie: b=2\r\n\r\n")
                self.assertIn(b" 204 ", connection.recv(1000)[:13])
            self.assertEqual(server.control("GET", "/requests")[1]["requests"][0]["headers"]["Accept"], "a/b, c/d")

    def test_a_client_that_leaves_cancels_its_answer(self):
        with Server() as server:
            server.stub("GET", "/stream", {"events": ["a"] * 10_000, "delay": 0.05})
            for index in range(50):
                connection = socket.create_connection(("127.0.0.1", server.port), timeout=30)
                connection.sendall(b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
                connection.recv(10)
                if index % 2:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.close()
            deadline = time.monotonic() + 30
            while server.open_sockets() > 2:
                self.assertLess(time.monotonic(), deadline)

    def test_what_is_no_request_is_refused_and_the_server_goes_on(self):
        with Server() as server:
            for text in [
                "\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/1.1", "\0\xff" * 1000, "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
                "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999999\r\n\r\n",
                "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf", "GET http://a.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
                "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000\r\n\r\nhalf", "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
                "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nabc",
                "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\nabc",
                "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
                "GET /\x01 HTTP/1.1\r\nHost: localhost\r\nX\x01: a\r\n\r\n", "GET /%zz|^<>\\ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
                "BREW / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
            ]:
                with self.subTest(text=text):
                    answer = server.raw(text, finish=True)
                    self.assertNotIn(" 200 ", answer.split("\r\n")[0])
                    self.assertLessEqual(answer.count("HTTP/1.1 "), 1)
            self.assertEqual(server.control("GET", "/health")[0], 200)

    def test_an_HTTP_1_0_client_gets_a_body_with_a_length(self):
        with Server() as server:
            server.stub("GET", "/a", {"events": ["a", "b"]})
            text = server.raw("GET /a HTTP/1.0\r\nHost: localhost\r\n\r\n")
            self.assertNotIn("chunked", text)
            self.assertTrue(text.endswith("data: b\n\n"))

    def test_clients_that_leave_are_slow_or_many_do_not_stop_others(self):
        with Server() as server:
            server.stub("GET", "/stream", {"events": ["a" * 1000] * 20_000})
            server.stub("GET", "/a", {"text": "a"})
            idle = []
            for index in range(60):
                connection = socket.create_connection(("127.0.0.1", server.port), timeout=30)
                if index % 3 == 0:
                    connection.sendall(b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
                elif index % 3 == 1:
                    connection.sendall(b"GET / HT")
                if index % 2 == 0:
                    connection.close()
                else:
                    idle.append(connection)
            with concurrent.futures.ThreadPoolExecutor(50) as pool:
                answers = list(pool.map(lambda _: server.request("GET", "/a")[1], range(200)))
            self.assertEqual(answers, [b"a"] * 200)
            for connection in idle:
                connection.close()

    def test_it_listens_again_after_more_connections_than_files(self):
        with Server(files=64) as server:
            connections = []
            for _ in range(100):
                try:
                    connections.append(socket.create_connection(("127.0.0.1", server.port), timeout=30))
                except ConnectionError:
                    pass
            for connection in connections:
                connection.close()
            deadline = time.monotonic() + 30
            while True:
                try:
                    self.assertEqual(server.control("GET", "/health")[0], 200)
                    break
                except OSError:
                    self.assertLess(time.monotonic(), deadline)

    def test_a_signal_ends_it_while_requests_are_in_progress(self):
        with Server() as server:
            server.stub("GET", "/slow", {"status": 204, "delay": 100})
            connections = [socket.create_connection(("127.0.0.1", server.port), timeout=30) for _ in range(10)]
            for connection in connections:
                self.addCleanup(connection.close)
                connection.sendall(b"GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n")
            deadline = time.monotonic() + 30
            while len(server.control("GET", "/requests")[1]["requests"]) < 10:
                self.assertLess(time.monotonic(), deadline)
            self.assertEqual(server.stop(), (0, ""))
            for connection in connections:
                try:
                    self.assertEqual(connection.recv(100), b"")
                except ConnectionResetError:
                    pass

    def test_many_kept_connections_and_open_streams_do_not_keep_it_from_ending(self):
        with Server() as server:
            server.stub("GET", "/a", {"text": "a"})
            server.stub("GET", "/stream", {"events": ["a"] * 1000, "delay": 1})
            kept = []
            for _ in range(300):
                kept.append(socket.create_connection(("127.0.0.1", server.port), timeout=30))
                self.addCleanup(kept[-1].close)
            for _ in range(2):
                for connection in kept:
                    connection.sendall(b"GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n")
                for connection in kept:
                    text = b""
                    while not text.endswith(b"\r\n\r\na"):
                        text += connection.recv(1000)
                    self.assertIn(b" 200 ", text[:13])
            for connection in kept[:200]:
                connection.sendall(b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
            for connection in kept[:200]:
                self.assertIn(b" 200 ", connection.recv(1000)[:13])
            begun = time.monotonic()
            self.assertEqual(server.stop(), (0, ""))
            self.assertLess(time.monotonic() - begun, 10)

    def test_ten_thousand_stubs_are_enough(self):
        with Server() as server:
            stub = json.dumps({"path": "/a", "response": {}})
            head = f"POST /__mock/stubs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(stub)}\r\n"
            last = head + "Connection: close\r\n\r\n" + stub
            answers = server.raw((head + "\r\n" + stub) * 10_000 + last)
            self.assertEqual((answers.count("HTTP/1.1 201"), answers.count("HTTP/1.1 400")), (10_000, 1))

    def test_ten_times_as_many_stubs_are_listed_in_ten_times_as_long(self):
        with Server() as small, Server() as large:
            stub = json.dumps({"path": "/a", "response": {}})
            head = f"POST /__mock/stubs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(stub)}\r\n"
            last = head + "Connection: close\r\n\r\n" + stub

            def seconds(server):
                begun = time.monotonic()
                server.control("GET", "/stubs")
                return time.monotonic() - begun

            for server, count in [(small, 1_000), (large, 10_000)]:
                server.raw((head + "\r\n" + stub) * (count - 1) + last)
                self.assertEqual(len(server.control("GET", "/stubs")[1]["stubs"]), count)
            # With a search in all stubs for each, it is a hundred times. Whatever else runs on this machine may slow down a part of these.
            self.assertLess(min(seconds(large) / seconds(small) for _ in range(5)), 30)


if __name__ == "__main__":
    unittest.main()
