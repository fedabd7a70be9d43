import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

/// The whole stack over a real socket.
@Suite("Over a socket", tenMinutes)
struct LoopbackTests {
    let provider = DefaultAPIProvider(transport: TestedTransport(configuration: .patient))

    private func failure<Response>(of request: Endpoint<Response>) async throws -> APIError {
        try await #require(throws: APIError.self) { try await provider.request(request).value }
    }

    @Test(
        "A body whose length is no number is an error, and not a part of the body",
        arguments: ["1e1", "0x5", "100000000000000000000", "5, 7", "-5", "5,"])
    func invalidLengths(length: String) async throws {
        let server = try LoopbackServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\nConnection: close\r\n\r\nhello")
        }
        _ = try await failure(of: Endpoint<Data>(.get, .url(server.url)))
    }

    @Test("A part that nobody has asked for is an error, and none where the body does not matter")
    func unaskedPart() async throws {
        let server = try LoopbackServer { _, connection in connection.respond("206 Partial Content", body: "hal") }
        #expect(try await failure(of: Endpoint<Data>(.get, .url(server.url))).statusCode == 206)
        try await provider.request(Endpoint<Void>(.get, .url(server.url))).value
        let asked = Endpoint<String>(.get, .url(server.url), headers: ["Range": "bytes=0-2"])
        #expect(try await provider.request(asked).value == "hal")
    }

    @Test("The server gets the request that the endpoint describes, and its JSON is the value")
    func json() async throws {
        let server = try LoopbackServer { request, connection in
            connection.respond("201 Created", body: String(decoding: request.body, as: UTF8.self))
        }
        let item = Item(id: 2, name: String(repeating: "é", count: 100_000))
        let request = Endpoint<Item>(.patch, .url(server.url, "/1"), query: ["q": "a b&c"], headers: ["X-Trace": "7"], body: .json(item))
        #expect(try await provider.request(request).value == item)
        let received = try #require(server.requests.first)
        #expect(received.method == "PATCH")
        #expect(received.target == "/1?q=a%20b%26c")
        #expect(received.headers["content-type"] == "application/json")
        #expect(received.headers["x-trace"] == "7")
    }

    @Test(
        "What a middleware sees is what the server gets",
        arguments: [
            (.get, ""), ("get", "?a=1"), ("Put", "/a//b"), ("patch", "//a"), ("PROPFIND", "/a/..b/.c/..."), ("purge", "/a?b?c=/"),
            (.get, "/a;../b?x=/../y#/../z"), (.get, "/%7Ea%2F~?q=%7E"), (.get, "/a%2e%2E?b=%2E"), (.get, "/é|\\b"),
        ] as [(HTTPMethod, String)])
    func seenAsSent(method: HTTPMethod, text: String) async throws {
        let (server, seen) = (try LoopbackServer { _, connection in connection.respond() }, Log<String>())
        let observer = ClosureMiddleware { request, next in
            let text = request.url.absoluteString.dropFirst("http://".count).prefix { $0 != "#" }
            let target = text.drop { $0 != "/" && $0 != "?" }
            seen.append("\(request.method) \(target.hasPrefix("/") ? "" : "/")\(target)")
            return next(request)
        }
        let provider = DefaultAPIProvider(transport: TestedTransport(configuration: .patient), middlewares: [observer])
        let url = try #require(URL(string: server.url.absoluteString + text))
        try await provider.request(Endpoint<Void>(method, .url(url))).value
        // A new libcurl writes the letters of an escape as capitals.
        let sent = server.requests.map { "\($0.method) \($0.target.replacingOccurrences(of: "%2e", with: "%2E"))" }
        #expect(seen.entries.map { $0.replacingOccurrences(of: "%2e", with: "%2E") } == sent)
    }

    /// A new libcurl, like each browser, takes `%2e` for a dot.
    @Test(
        "A URL that would not be sent as it is written is not sent",
        arguments: ["/a/../b", "/a/./b", "/..", "/.", "/a/.", "/a/..?b", "/a/%2e%2E/b", "/%2E", "/.%2e/b?c"])
    func dotSegments(text: String) async throws {
        let url = try #require(URL(string: example.absoluteString + text))
        let error = try await failure(of: Endpoint<Data>(.get, .url(url)))
        #expect(error.description.contains("; write the path that is meant"))
    }

    @Test("A redirect is followed, and keeps credentials from another origin")
    func redirect() async throws {
        let other = try LoopbackServer { _, connection in connection.respond(body: "there") }
        let server = try LoopbackServer { request, connection in
            let location = request.target == "/a/start" ? "next?x=1" : "\(other.url)/end"
            connection.respond("302 Found", headers: ["Location": location], body: "moved")
        }
        let request = Endpoint<String>(.post, .url(server.url, "/a/start"), headers: ["Authorization": "t0ken"], body: .json(["a": 1]))
        #expect(try await provider.request(request).value == "there")
        #expect(server.requests.map(\.target) == ["/a/start", "/a/next?x=1"])
        #expect(server.requests.map(\.method) == ["POST", "GET"])
        #expect((server.requests + other.requests).map { $0.headers["authorization"] } == ["t0ken", "t0ken", nil])
        #expect(other.requests.first?.body.isEmpty == true)
    }

    @Test("The total of a compressed body is unknown")
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

    @Test("A scheme in capitals is the same scheme")
    func scheme() async throws {
        let server = try LoopbackServer { request, connection in
            let next = "HTTP://\(request.headers["host"] ?? "")/end"
            request.target == "/end" ? connection.respond(body: "ok") : connection.respond("302 Found", headers: ["Location": next])
        }
        let url = try #require(URL(string: "HTTP" + server.url.absoluteString.dropFirst(4)))
        #expect(try await provider.request(Endpoint<String>(.get, .url(url, "/start"))).value == "ok")
    }

    @Test("A name and a password in the URL of a redirect are not sent", arguments: ["user:pass", "user", ":pass"])
    func userInfo(_ userInfo: String) async throws {
        let server = try LoopbackServer { request, connection in
            guard request.target == "/start" else { return connection.respond(body: request.headers["authorization"] ?? "none") }
            connection.respond("302 Found", headers: ["Location": "http://\(userInfo)@\(request.headers["host"] ?? "")/end"])
        }
        #expect(try await provider.request(Endpoint<String>(.get, .url(server.url, "/start"))).value == "none")
    }

    @Test(
        "A URL that HTTP does not allow is not requested, whether the endpoint or the caller of the transport has set it",
        arguments: [
            ("data:,x", "has the scheme data; it must be"), ("ftp://h/x", "has the scheme ftp; it must be"),
            ("http://:pass@127.0.0.1/", "a user name or a password"),
            ("http://[::1]:65536/", "the port 65536; the highest is 65535."),
            ("http://localhost:99999999999999999999/", "; the highest is 65535."),
            ("http://[::1]:18446744073709551696", "; the highest is 65535."),
        ])
    func forbiddenURL(text: String, reason: String) async throws {
        let url = try #require(URL(string: text))
        let byEndpoint = try await failure(of: Endpoint<String>(.get, .url(example)).adapting { $0.url = url })
        let transport = TestedTransport(configuration: .patient)
        let byTransport = try await #require(throws: APIError.self) { try await transport.send(PreparedRequest(.get, url)).value }
        for error in [byEndpoint, byTransport] {
            #expect(error.description.hasPrefix("The request was not sent: its URL "))
            #expect(error.description.contains(reason))
        }
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
            (.head, "200 OK"), (.get, "200 OK"), (.get, "204 No Content"), (.get, "304 Not Modified"), (.get, "302 Found"),
        ] as [(HTTPMethod, String)])
    func emptyGzip(method: HTTPMethod, status: String) async throws {
        let server = try LoopbackServer { request, connection in
            connection.respond(status, headers: ["Content-Encoding": "gzip", "Content-Length": request.method == "HEAD" ? "100" : "0"])
        }
        let request = Endpoint<Data>(method, .url(server.url)).validating { _ in }.withResponse()
        let (body, response) = try await provider.request(request).value
        #expect(response.statusCode == Int(status.prefix(3)))
        #expect(body.isEmpty)
    }

    @Test("A header value of white space alone is sent as an empty value", arguments: ["", " \t "])
    func whiteSpace(value: String) async throws {
        let server = try LoopbackServer { request, connection in connection.respond(body: request.headers["x-a"] ?? "none") }
        #expect(try await provider.request(Endpoint<String>(.get, .url(server.url), headers: ["X-A": value])).value == "")
    }

    @Test("A progress closure that blocks delays only its own request")
    func blockingProgress() async throws {
        let server = try LoopbackServer { _, connection in connection.respond(body: "ok") }
        let (goOn, blocked, ended) = (DispatchSemaphore(value: 0), Signals<Void>(), Signals<String>())
        let isFirst = Locked(true)
        let blocking = Endpoint<String>(.get, .url(server.url)).onProgress { _ in
            guard isFirst.withLock({ exchange(&$0, with: false) }) else { return }
            blocked.send(())
            goOn.wait()
        }
        let subscription = provider.request(blocking).subscribe { ended.send("\($0)") }
        await blocked.next()
        #expect(try await provider.request(Endpoint<String>(.get, .url(server.url))).value == "ok")
        goOn.signal()
        #expect(await ended.next() == "success(\"ok\")")
        subscription.dispose()
    }

    @Test("A timeout fires while a progress closure blocks")
    func timeoutDuringProgress() async throws {
        let server = try LoopbackServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok")
            connection.waitUntilClosed()
        }
        let goOn = DispatchSemaphore(value: 0)
        let error = try await failure(
            of: Endpoint<String>(.get, .url(server.url)).timeout(.milliseconds(200)).onProgress { _ in goOn.wait() })
        #expect(error.urlError?.code == .timedOut)
        for _ in 0..<100 { goOn.signal() }
    }

    @Test("After dispose there is no more progress")
    func progressAfterDispose() async throws {
        let server = try LoopbackServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
            for _ in 0..<200 { connection.send(String(repeating: "z", count: 50_000)) }
            connection.waitUntilClosed()
        }
        let (disposable, isSubscribed, log) = (SerialDisposable(), DispatchSemaphore(value: 0), Log<String>())
        let request = Endpoint<Data>(.get, .url(server.url)).onProgress { progress in
            log.append(disposable.isDisposed ? "late" : "progress")
            guard progress.bytesReceived > 0, !disposable.isDisposed else { return }
            // The first bytes may come before `subscribe` has returned.
            isSubscribed.wait()
            disposable.dispose()
        }
        disposable.disposable = provider.request(request).subscribe { _ in log.append("event") }
        isSubscribed.signal()
        while !disposable.isDisposed { await Task.yield() }
        await server.allClosed()
        #expect(Set(log.entries) == ["progress"])
    }

    @Test(
        "A header with a control character, which could begin another, is not sent, no matter who has set it",
        arguments: ["a\r\nX-Evil: 1", "a\u{1}", "\u{7F}"])
    func unsafeHeader(value: String) async throws {
        let server = try LoopbackServer { _, connection in connection.respond() }
        let request = Endpoint<Data>(.get, .url(server.url))
        let configuration = URLSessionConfiguration.patient
        configuration.httpAdditionalHeaders = ["X-Name": value]
        let configured = DefaultAPIProvider(transport: TestedTransport(configuration: configuration))
        for single in [provider.request(request.adapting { $0.headers = ["X-Name": value] }), configured.request(request)] {
            let error = try await #require(throws: APIError.self) { try await single.value }
            #expect(error.description.contains("X-Name has a control character"))
        }
        #expect(server.requests.isEmpty)
    }

    @Test("Strange timeouts of a configuration and of a request harm nothing", arguments: [TimeInterval.nan, -1e300, 0, .infinity])
    func timeouts(seconds: TimeInterval) async throws {
        let server = try LoopbackServer { _, connection in connection.respond(body: "ok") }
        let configuration = URLSessionConfiguration.patient
        configuration.timeoutIntervalForRequest = seconds
        configuration.timeoutIntervalForResource = seconds
        let configured = DefaultAPIProvider(transport: TestedTransport(configuration: configuration))
        #expect(try await configured.request(Endpoint<String>(.get, .url(server.url))).value == "ok")

        var strange = PreparedRequest(.get, server.url)
        strange.timeoutInterval = seconds
        let sent = TestedTransport(configuration: .patient).send(strange)
        if seconds > 0 { return #expect(try await sent.value.data == Data("ok".utf8)) }
        let error = await #expect(throws: APIError.self) { try await sent.value }
        #expect(error?.description == "The request was not sent: its timeoutInterval is \(seconds) seconds; it must be more than 0.")
    }
}
