import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

/// The whole stack over a real socket.
@Suite("Over a socket", tenMinutes)
struct LoopbackTests {
    let provider = DefaultAPIProvider(transport: TestedTransport(configuration: .patient))

    @Test("200 with JSON is the value")
    func success() async throws {
        let server = try LoopbackServer { _, connection in
            connection.respond(headers: ["Content-Type": "application/json"], body: #"{"id":1,"name":"a"}"#)
        }
        let request = Endpoint<Item>(.get, .url(server.url, "/items/1"), query: ["q": "a b&c"], headers: ["X-Trace": "7"])
        #expect(try await provider.request(request).value == Item(id: 1, name: "a"))
        let received = try #require(server.requests.first)
        #expect(server.requests.count == 1)
        #expect(received.method == "GET")
        #expect(received.target == "/items/1?q=a%20b%26c")
        #expect(received.headers["accept"] == "application/json")
        #expect(received.headers["x-trace"] == "7")
    }

    @Test("A JSON body is sent whole, with its type")
    func post() async throws {
        let server = try LoopbackServer { request, connection in
            connection.respond("201 Created", body: String(decoding: request.body, as: UTF8.self))
        }
        let item = Item(id: 2, name: String(repeating: "é", count: 100_000))
        let request = Endpoint<Item>(.post, .url(server.url), body: .json(item))
        #expect(try await provider.request(request).value == item)
        #expect(server.requests.first?.headers["content-type"] == "application/json")
    }

    @Test("404 is an error that carries the body")
    func notFound() async throws {
        let server = try LoopbackServer { _, connection in connection.respond("404 Not Found", body: #"{"message":"Not Found"}"#) }
        let error = try await failure(of: Endpoint<Item>(.get, .url(server.url, "/users/nobody")))
        #expect(error.description == "GET \(server.url)/users/nobody failed: 404 Not Found: \"Not Found\" (23 bytes).")
        #expect(try error.response?.decode([String: String].self) == ["message": "Not Found"])
    }

    @Test("401 with a Basic challenge is the response, with its body")
    func basicChallenge() async throws {
        let server = try LoopbackServer { _, connection in
            connection.respond("401 Unauthorized", headers: ["WWW-Authenticate": "Basic realm=\"x\""], body: "who are you?")
        }
        let error = try await failure(of: Endpoint<Item>(.get, .url(server.url)))
        #expect(error.statusCode == 401)
        #expect(error.response?.data == Data("who are you?".utf8))
        #expect(server.requests.count == 1)
    }

    @Test("A redirect is followed, and keeps credentials from another origin")
    func redirect() async throws {
        let other = try LoopbackServer { _, connection in connection.respond(body: #"{"id":3,"name":"there"}"#) }
        let server = try LoopbackServer { request, connection in
            let location = request.target == "/a/start" ? "next?x=1" : "\(other.url)/end"
            connection.respond("302 Found", headers: ["Location": location], body: "moved")
        }
        let request = Endpoint<Item>(.post, .url(server.url, "/a/start"), headers: ["Authorization": "Bearer t0ken"], body: .json(["a": 1]))
        #expect(try await provider.request(request).value == Item(id: 3, name: "there"))
        #expect(server.requests.map(\.target) == ["/a/start", "/a/next?x=1"])
        #expect(server.requests.map(\.method) == ["POST", "GET"])
        #expect(server.requests.map { $0.headers["authorization"] } == ["Bearer t0ken", "Bearer t0ken"])
        let last = try #require(other.requests.first)
        #expect(last.headers["authorization"] == nil)
        #expect(last.headers["content-type"] == nil)
        #expect(last.body.isEmpty)
    }

    @Test("Disposing cancels the request, closes the connection and is silent")
    func cancelled() async throws {
        let (isReceived, received) = AsyncStream.makeStream(of: Void.self)
        let (isClosed, closed) = AsyncStream.makeStream(of: Void.self)
        let server = try LoopbackServer { _, connection in
            received.yield()
            connection.waitUntilClosed()
            closed.yield()
        }
        let disposable = provider.request(Endpoint<Item>(.get, .url(server.url)))
            .subscribe { Issue.record("An event came after dispose: \($0)") }
        for await _ in isReceived { break }
        disposable.dispose()
        for await _ in isClosed { break }
    }

    @Test("A redirect without a Location is the response", arguments: ["301 Moved Permanently", "302 Found", "308 Permanent Redirect"])
    func noLocation(status: String) async throws {
        let server = try LoopbackServer { _, connection in connection.respond(status) }
        #expect(try await failure(of: Endpoint<String>(.get, .url(server.url))).description.hasSuffix("failed: \(status)."))
    }

    @Test("Progress tells the bytes sent and received, and the totals")
    func progress() async throws {
        let server = try LoopbackServer { request, connection in connection.respond(body: String(repeating: "y", count: 300_000)) }
        let log = Log<TransferProgress>()
        let request = Endpoint<Data>(.post, .url(server.url), body: .data(Data(count: 200_000), contentType: "application/octet-stream"))
        let data = try await provider.request(request.onProgress(log.append)).value
        #expect(data.count == 300_000)
        let last = try #require(log.entries.last)
        #expect(last == TransferProgress(bytesSent: 200_000, bytesToSend: 200_000, bytesReceived: 300_000, bytesToReceive: 300_000))
        #expect(log.entries.map(\.bytesReceived) == log.entries.map(\.bytesReceived).sorted())
    }

    @Test("No progress passes its total: that of a compressed body is unknown")
    func compressedProgress() async throws {
        // 10,000 bytes, which are all the same.
        let gzip = try #require(
            Data(base64Encoded: "H4sIAAAAAAACA+3BAQ0AAADCoKzvX8IcbkABAAAAAAAAAADAvwGX1H5GECcAAA=="))
        let server = try LoopbackServer([
            .readRequest, .send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(gzip.count)\r\n\r\n"), .send(gzip),
        ])
        let log = Log<TransferProgress>()
        let data = try await provider.request(Endpoint<Data>(.get, .url(server.url)).onProgress(log.append)).value
        #expect(data == Data(repeating: 0x61, count: 10_000))
        #expect(log.entries.last == TransferProgress(bytesReceived: 10_000))
        #expect(log.entries.allSatisfy { $0.bytesToReceive == nil })
    }

    @Test("A scheme in capitals is the same scheme", arguments: ["HTTP", "Http"])
    func scheme(scheme: String) async throws {
        let server = try LoopbackServer { request, connection in
            let next = "\(scheme)://\(request.headers["host"] ?? "")/end"
            request.target == "/end" ? connection.respond(body: "ok") : connection.respond("302 Found", headers: ["Location": next])
        }
        let url = try #require(URL(string: scheme + server.url.absoluteString.dropFirst(4)))
        #expect(try await provider.request(Endpoint<String>(.get, .url(url, "/start"))).value == "ok")
        #expect(try await provider.request(Endpoint<String>(.get, .url(server.url)).adapting { $0.url = url }).value == "ok")
    }

    @Test("A name and a password in a URL are not sent: neither in a request nor on a redirect", arguments: ["user:pass", "user", ":pass"])
    func userInfo(_ userInfo: String) async throws {
        let server = try LoopbackServer { request, connection in
            guard request.target == "/start" else { return connection.respond(body: request.headers["authorization"] ?? "none") }
            connection.respond("302 Found", headers: ["Location": "http://\(userInfo)@\(request.headers["host"] ?? "")/end"])
        }
        #expect(try await provider.request(Endpoint<String>(.get, .url(server.url, "/start"))).value == "none")
        let url = try #require(URL(string: "http://\(userInfo)@127.0.0.1:\(server.url.port ?? 0)/"))
        let error = try await #require(throws: APIError.self) {
            try await provider.request(Endpoint<String>(.get, .url(server.url)).adapting { $0.url = url }).value
        }
        #expect(
            error.description
                == "The request was not sent: its URL has a user name or a password; send them in the header Authorization.")
        #expect(server.requests.map(\.target) == ["/start", "/end"])
    }

    @Test(
        "A URL with another scheme than HTTP's is not sent, whoever has set it",
        arguments: [("ftp://h/x", "ftp://h/x"), ("file:///etc/passwd", "file:…"), ("data:,x", "data:…")])
    func otherScheme(url: String, shown: String) async throws {
        let url = try #require(URL(string: url))
        let scheme = try #require(url.scheme)
        let sentence = "The request was not sent: its URL \"\(shown)\" has the scheme \(scheme); it must be http or https."
        let request = Endpoint<String>(.get, .url(example)).adapting { $0.url = url }
        #expect("\(try await #require(throws: APIError.self) { try await provider.request(request).value })" == sentence)
        let transport = TestedTransport(configuration: .patient)
        let error = try await #require(throws: APIError.self) { try await transport.send(PreparedRequest(.get, url)).value }
        #expect(error.description == sentence)
    }

    @Test(
        "A URL whose port is above 65535 is not sent, and a redirect to one is the answer",
        arguments: [
            ("http://127.0.0.1:70000/", "70000"), ("http://[::1]:70000/", "70000"), ("http://localhost:65536/", "65536"),
            ("http://localhost:99999999999999999999/", "99999999999999999999"),
            ("http://[::1]:18446744073709551696", "18446744073709551696"),
        ])
    func port(text: String, port: String) async throws {
        let url = try #require(URL(string: text))
        let sentence = "The request was not sent: its URL has the port \(port); the highest is 65535."
        for request in [Endpoint<String>(.get, .url(url)), Endpoint(.get, .url(example)).adapting { $0.url = url }] {
            #expect("\(try await failure(of: request))" == sentence)
        }
        let server = try LoopbackServer { _, connection in connection.respond("302 Found", headers: ["Location": text], body: "moved") }
        let error = try await failure(of: Endpoint<String>(.get, .url(server.url)))
        #expect("\(error)".hasSuffix("failed: 302 Found (5 bytes)."))
    }

    @Test("A request for a range asks for its bytes as they are, unless it asks for an encoding", arguments: [nil, "gzip"])
    func range(encoding: String?) async throws {
        let server = try LoopbackServer { request, connection in connection.respond(body: request.headers["accept-encoding"] ?? "none") }
        let headers: HTTPHeaders = ["range": "bytes=0-9", "Accept-Encoding": encoding]
        #expect(try await provider.request(Endpoint<String>(.get, .url(server.url), headers: headers)).value == encoding ?? "identity")
    }

    @Test(
        "A response that names gzip may have no body",
        arguments: [
            ("HEAD", "200 OK", 200), ("GET", "200 OK", 200), ("GET", "204 No Content", 204), ("GET", "304 Not Modified", 304),
            ("HEAD", "404 Not Found", 404), ("GET", "302 Found", 200), ("GET", "503 Service Unavailable", 200),
        ])
    func emptyGzip(method: HTTPMethod, status: String, last: Int) async throws {
        let isFirst = Locked(true)
        let server = try LoopbackServer { request, connection in
            // A redirect is followed, and a 503 is tried again.
            let isAnswered = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return !isFirst && last == 200
            }
            let length = request.method == "HEAD" ? "100" : "0"
            connection.respond(
                isAnswered ? "200 OK" : status, headers: ["Content-Encoding": "gzip", "Location": "/", "Content-Length": length])
        }
        let provider = DefaultAPIProvider(
            transport: TestedTransport(configuration: .patient), middlewares: [RetryMiddleware(RetryPolicy(baseDelay: .milliseconds(0)))])
        let request = Endpoint<Data>(method, .url(server.url)).validating { _ in }.withResponse()
        let (body, response) = try await provider.request(request).value
        #expect(response.statusCode == last)
        #expect(body.isEmpty)
    }

    @Test("A header value of white space alone is sent as the empty value that it is", arguments: ["", " ", " \t "])
    func whiteSpace(value: String) async throws {
        let server = try LoopbackServer { request, connection in connection.respond(body: request.headers["x-a"] ?? "none") }
        #expect(try await provider.request(Endpoint<String>(.get, .url(server.url), headers: ["X-A": value])).value == "")
    }

    @Test("A closure for progress that blocks holds up its own request alone")
    func blockingProgress() async throws {
        let server = try LoopbackServer { _, connection in connection.respond(body: "ok") }
        let (goOn, blocked, ended) = (DispatchSemaphore(value: 0), Signals<Void>(), Signals<String>())
        let isFirst = Locked(true)
        let blocking = Endpoint<String>(.get, .url(server.url)).onProgress { _ in
            guard isFirst.withLock({ isFirst in exchange(&isFirst, with: false) }) else { return }
            blocked.send(())
            goOn.wait()
        }
        let subscription = provider.request(blocking).subscribe { ended.send("\($0)") }
        await blocked.next()
        let other = Endpoint<String>(.get, .url(server.url)).timeout(.seconds(30))
        await #expect(throws: Never.self) { try await provider.request(other).value }
        goOn.signal()
        #expect(await ended.next() == "success(\"ok\")")
        subscription.dispose()
    }

    @Test("A timeout comes while a closure for progress blocks")
    func timeoutDuringProgress() async throws {
        let server = try LoopbackServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok")
            connection.waitUntilClosed()
        }
        let goOn = DispatchSemaphore(value: 0)
        let blocking = Endpoint<String>(.get, .url(server.url)).timeout(.milliseconds(200)).onProgress { _ in goOn.wait() }
        let error = await #expect(throws: APIError.self) { try await provider.request(blocking).value }
        #expect(error?.urlError?.code == .timedOut)
        for _ in 0..<100 { goOn.signal() }
    }

    @Test("After dispose there is no more progress")
    func progressAfterDispose() async throws {
        let (isClosed, closed) = AsyncStream.makeStream(of: Void.self)
        let server = try LoopbackServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
            for _ in 0..<200 { connection.send(String(repeating: "z", count: 50_000)) }
            connection.waitUntilClosed()
            closed.yield()
        }
        let disposable = SerialDisposable()
        let isSubscribed = DispatchSemaphore(value: 0)
        let log = Log<String>()
        let request = Endpoint<Data>(.get, .url(server.url)).onProgress { progress in
            log.append(disposable.isDisposed ? "late" : "progress")
            guard progress.bytesReceived > 0, !disposable.isDisposed else { return }
            // The first bytes may come before `subscribe` has returned.
            isSubscribed.wait()
            disposable.dispose()
        }
        disposable.disposable = provider.request(request).subscribe { _ in log.append("event") }
        isSubscribed.signal()
        for await _ in isClosed { break }
        #expect(log.entries.contains("progress"))
        #expect(!log.entries.contains("late"))
        #expect(!log.entries.contains("event"))
    }

    @Test(
        "A header with a control character, which could begin another, is not sent, whoever has set it",
        arguments: ["a\r\nX-Evil: 1", "a\nX-Evil: 1", "a\0", "a\u{1}", "\u{1B}[2J", "\u{7F}"])
    func unsafeHeader(value: String) async throws {
        let server = try LoopbackServer { _, connection in connection.respond() }
        let error = try await #require(throws: APIError.self) {
            try await provider.request(Endpoint<Data>(.get, .url(server.url)).adapting { $0.headers = ["X-Name": value] }).value
        }
        #expect(error.description == "The request was not sent: its header X-Name has a control character in its value.")
        let configuration = URLSessionConfiguration.patient
        configuration.httpAdditionalHeaders = ["X-Name": value]
        await #expect(throws: APIError.self) {
            try await DefaultAPIProvider(transport: TestedTransport(configuration: configuration)).request(
                Endpoint<Data>(.get, .url(server.url))
            ).value
        }
        #expect(server.requests.isEmpty)
    }

    @Test(
        "A timeout fires no earlier than asked, whether the request or the configuration sets it", arguments: [0.2, 1, 1.4], [true, false])
    func timeout(seconds: TimeInterval, isOfRequest: Bool) async throws {
        let server = try LoopbackServer([.waitUntilClosed])
        let configuration = URLSessionConfiguration.patient
        if !isOfRequest { configuration.timeoutIntervalForRequest = seconds }
        let request = Endpoint<Item>(.get, .url(server.url), timeoutInterval: isOfRequest ? seconds : nil)
        let provider = DefaultAPIProvider(transport: TestedTransport(configuration: configuration))
        let start = DispatchTime.now()
        let error = try await #require(throws: APIError.self) { try await provider.request(request).value }
        let elapsed = DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds
        #expect(error.urlError?.code == .timedOut)
        #expect(Double(elapsed) >= seconds * 1e9)
    }

    @Test("Strange timeouts of a configuration and of a request harm nothing", arguments: [TimeInterval.nan, -1e300, 0, .infinity])
    func timeouts(seconds: TimeInterval) async throws {
        let server = try LoopbackServer { _, connection in connection.respond(body: "ok") }
        let configuration = URLSessionConfiguration.patient
        configuration.timeoutIntervalForRequest = seconds
        configuration.timeoutIntervalForResource = seconds
        #expect(
            try await DefaultAPIProvider(transport: TestedTransport(configuration: configuration)).request(
                Endpoint<String>(.get, .url(server.url))
            ).value == "ok")

        var strange = PreparedRequest(.get, server.url)
        strange.timeoutInterval = seconds
        let sent = TestedTransport(configuration: .patient).send(strange)
        if seconds > 0 {
            #expect(try await sent.value.data == Data("ok".utf8))
        } else {
            let error = await #expect(throws: APIError.self) { try await sent.value }
            #expect(error?.description == "The request was not sent: its timeoutInterval is \(seconds) seconds; it must be more than 0.")
        }
    }

    @Test("A request ends though its provider has been let go")
    func providerGone() async throws {
        let server = try LoopbackServer { _, connection in connection.respond(body: "still here") }
        let single = DefaultAPIProvider(transport: TestedTransport(configuration: .patient)).request(
            Endpoint<String>(.get, .url(server.url)))
        #expect(try await single.value == "still here")
    }

    @Test("Requests are cold: each subscription sends one")
    func cold() async throws {
        let server = try LoopbackServer { _, connection in connection.respond(body: "ok") }
        let single = provider.request(Endpoint<String>(.get, .url(server.url)))
        #expect(server.requests.isEmpty)
        _ = try await single.value
        _ = try await single.value
        #expect(server.requests.count == 2)
    }

    private func failure<Response>(
        of request: Endpoint<Response>, by provider: DefaultAPIProvider? = nil
    ) async throws -> APIError {
        try await #require(throws: APIError.self) { try await (provider ?? self.provider).request(request).value }
    }
}
