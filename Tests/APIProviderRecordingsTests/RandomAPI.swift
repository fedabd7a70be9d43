import APIProvider
import Foundation
import TestSupport

@testable import APIProviderRecordings

/// A program that talks to a server, made of a seed: what it sends depends on secrets of its environment and on earlier responses.
struct RandomAPI {
    /// A value that the program sends, or a response has.
    indirect enum Value {
        case number(Int)
        case text(String)
        case uuid(Int)
        case null
        /// A secret of the environment.
        case environment(Int)
        /// A secret that the server makes.
        case issued(Int)
        /// What an earlier response had at its top under `taken`.
        case taken(step: Int, key: String)
        /// Another text with the value in it.
        case embedded(Value, prefix: String, suffix: String)
        case object([(String, Value)])
        case array([Value])
        /// JSON in a string.
        case nested(Value)
    }

    enum Body { case none, json, form, multipart }

    struct Step {
        var method = "GET"
        var path: [Value] = []
        var query: [(String, Value)] = []
        var headers: [(String, Value)] = []
        var body = Body.none
        var fields: [(String, Value)] = []
        var status = 200
        var answer: [(String, Value)] = []
        var isStream = false
        var isBearer = false

        /// Whether the last secret of the environment is sent as it is, so that the server may answer with it.
        var hasEnvironment: Bool {
            (headers + (method == "GET" || body == .none ? [] : fields)).contains { if case .environment = $0.1 { true } else { false } }
        }
    }

    /// The secrets of one run, and the kinds that are the same in each.
    struct Run {
        var environment: [String]
        var issued: [String]
        /// Whether requests in flight end in another order.
        var endsInOtherOrder = false
    }

    private(set) var steps: [Step] = []
    /// The steps that are in flight together.
    private(set) var groups: [Range<Int>] = []
    let environmentKinds: [Int]
    let issuedKinds: [Int]

    /// Whether a secret may stand in the traffic by chance. Then it is replaced only where it is known to be one.
    var hasOrdinarySecrets: Bool { (environmentKinds + issuedKinds).contains { $0 == 7 || $0 == 8 } || issuedKinds.contains(4) }

    init(_ random: inout SeededGenerator) {
        environmentKinds = (0..<Int.random(in: 1...2, using: &random)).map { _ in Int.random(in: 0...9, using: &random) }
        issuedKinds = (0..<Int.random(in: 1...4, using: &random)).map { _ in Int.random(in: 0...9, using: &random) }
        var count = 0
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let size = Int.random(in: 0...59, using: &random) == 0 ? 30 : Int.random(in: 1...3, using: &random)
            groups.append(count..<count + size)
            count += size
        }
        for (number, group) in groups.enumerated() {
            for index in group { steps.append(step(index, after: number == 0 ? 0 : group.lowerBound, &random)) }
        }
        // A poll: the same request once more, with another answer.
        if Bool.random(using: &random), let last = groups.last, last.count == 1, steps[count - 1].query.count < 9 {
            steps.append(steps[count - 1])
            steps[count].answer = answer(count, &random)
            groups.append(count..<count + 1)
        }
    }

    private func step(_ index: Int, after earlier: Int, _ random: inout SeededGenerator) -> Step {
        var step = Step()
        step.method = ["GET", "POST", "PUT", "DELETE"].randomElement(using: &random) ?? "GET"
        step.path = [.text("items"), .number(index)]
        if Bool.random(using: &random) { step.path.append(value(index, earlier, &random)) }
        let names = ["page", "sha", "q", "api_key", "cursor", "access_token", "state_of", "signature", "filter"]
        for name in names where Int.random(in: 0...3, using: &random) == 0 {
            step.query.append((name, value(index, earlier, &random, name)))
        }
        if step.method != "GET" {
            step.body = [Body.json, .form, .multipart, .none].randomElement(using: &random) ?? .none
            let names = ["name", "password", "token", "otp", "note", "id", "clientSecret"]
            for name in names where Bool.random(using: &random) { step.fields.append((name, value(index, earlier, &random, name))) }
        }
        if Bool.random(using: &random) {
            step.headers.append(("Authorization", secretValue(earlier, &random)))
            step.isBearer = true
        }
        if index == 0 { step.headers += environmentKinds.indices.map { ("X-Key-\($0)-Api-Key", .environment($0)) } }
        if Bool.random(using: &random) { step.headers.append(("X-Trace", .text("t\(index)"))) }
        step.isStream = Int.random(in: 0...7, using: &random) == 0
        step.status = [200, 200, 201, 302, 401, 503].randomElement(using: &random) ?? 200
        step.answer = answer(index, &random, echoing: step.hasEnvironment && !hasOrdinarySecrets)
        return step
    }

    private func answer(_ index: Int, _ random: inout SeededGenerator, echoing isEchoing: Bool = false) -> [(String, Value)] {
        var answer: [(String, Value)] = [("n", .number(index)), ("cursor", .text("c\(index)x\(index * 7)")), ("id", .number(1000 + index))]
        for (name, number) in zip(["access_token", "refreshToken", "password", "next_token"], issuedKinds.indices)
        where Bool.random(using: &random) {
            answer.append((name, .issued(number)))
        }
        let echo = isEchoing ? [("echo", Value.environment(environmentKinds.count - 1))] : []
        let inner = Value.object([("a", .array([.null, .number(-1), .text(random.text())])), ("total_tokens", .number(42))] + echo)
        answer.append(("data", Bool.random(using: &random) ? inner : .nested(inner)))
        if Bool.random(using: &random) {
            answer.append(("url", .embedded(.issued(0), prefix: "https://a.example/f?Signature=", suffix: "&x=1#part")))
        }
        // Nothing tells that a text in HTML is secret, but it is replaced there if it is one elsewhere.
        let isTold = issuedKinds.count == 1 || answer.contains { $0.0 == "access_token" || $0.0 == "url" }
        if isTold, Bool.random(using: &random) {
            answer.append(("html", .embedded(.issued(0), prefix: "<input value=\"", suffix: "\">")))
        }
        return answer
    }

    private func secretValue(_ earlier: Int, _ random: inout SeededGenerator) -> Value {
        let issuing = (0..<earlier).flatMap { step in
            steps[step].answer.compactMap { name, value -> Value? in if case .issued = value { .taken(step: step, key: name) } else { nil }
            }
        }
        return Bool.random(using: &random)
            ? issuing.randomElement(using: &random) ?? .environment(environmentKinds.count - 1) : .environment(environmentKinds.count - 1)
    }

    private func value(_ index: Int, _ earlier: Int, _ random: inout SeededGenerator, _ name: String = "") -> Value {
        let isSecret = CredentialNames.match(name).map { $0.strength != .nonce } == true
        switch Int.random(in: 0...6, using: &random) {
        case _ where isSecret: return secretValue(earlier, &random)
        case 0 where earlier > 0:
            return .taken(step: Int.random(in: 0..<earlier, using: &random), key: ["cursor", "id"].randomElement(using: &random) ?? "id")
        case 1: return .text(random.text())
        case 2: return .number(index)
        case 3: return .uuid(index)
        // A secret of the environment that stands in another text has its own name in an earlier request.
        case 4 where !hasOrdinarySecrets && (index == 0 || earlier > 0):
            return .embedded(secretValue(earlier, &random), prefix: "x-", suffix: "-y")
        default:
            return .text(["main", "6dcb09b5b57875f334f61aebed695e2e4193db5e", "open", "2026-01-01"].randomElement(using: &random) ?? "")
        }
    }

    /// New secrets of the kinds.
    func run(_ random: inout SeededGenerator) -> Run {
        Run(
            environment: environmentKinds.map { random.secret($0) }, issued: issuedKinds.map { random.secret($0) },
            endsInOtherOrder: Bool.random(using: &random))
    }
}

extension SeededGenerator {
    mutating func secret(_ kind: Int) -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        func word(_ length: Int) -> String { String((0..<length).map { _ in letters.randomElement(using: &self) ?? "a" }) }
        switch kind {
        case 0: return "aB3" + word(30)
        case 1: return "s3-" + word(8) + "/+=" + word(6)
        case 2:
            var bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &self) }
            bytes[6] = bytes[6] & 15 | 64
            let hex = bytes.map { String($0 + 0, radix: 16).count == 1 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined()
            let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(Array(hex)[$0]) }
            return parts.joined(separator: "-")
        case 3: return "\(Int.random(in: 100_000_000_000...999_999_999_999, using: &self))"
        case 4: return "p\u{E4}ss \"\\w0rd" + word(5)
        case 5:
            let claims = "{\"sub\":\"\(word(4))\",\"exp\":1900000000}"
            return [#"{"alg":"HS256"}"#, claims].map { Data($0.utf8).base64URL }.joined(separator: ".") + "." + word(20)
        case 6: return "Zq9" + word(9) + "&b=c%41"
        case 7: return String(word(12).lowercased().filter(\.isLetter))
        case 8: return "\(Int.random(in: 1000...9999, using: &self))-\(Int.random(in: 1000...9999, using: &self))"
        default: return "\u{1F511}key" + word(10) + "</a>"
        }
    }
}

// MARK: - Running

extension RandomAPI {
    /// What the program knows while it runs.
    struct State {
        let run: Run
        var taken: [String: Any] = [:]
    }

    private func string(_ value: Value, _ state: State) -> String {
        switch value {
        case .number(let number): "\(number)"
        case .text(let text): text
        case .uuid(let number): "6f9619ff-8b86-4011-b42d-00c04fc9\(String(number + 4096, radix: 16))"
        case .null: ""
        case .environment(let index): state.run.environment[min(index, state.run.environment.count - 1)]
        case .issued(let index): state.run.issued[index]
        case .taken(let step, let key):
            (state.taken["\(step).\(key)"] as? NSNumber).map { "\($0)" } ?? state.taken["\(step).\(key)"] as? String ?? ""
        case .embedded(let value, let prefix, let suffix): prefix + string(value, state).escapedInside(prefix) + suffix
        case .object, .array: json(value, state)
        case .nested(let value): json(value, state)
        }
    }

    func json(_ value: Value, _ state: State) -> String {
        switch value {
        case .number(let number): "\(number)"
        case .null: "null"
        case .object(let members):
            "{" + members.map { "\(quoted($0)): \(json($1, state))" }.joined(separator: ",") + "}"
        case .array(let elements): "[" + elements.map { json($0, state) }.joined(separator: " ,") + "]"
        default: quoted(string(value, state))
        }
    }

    private func quoted(_ text: String) -> String {
        (try? JSONEncoder().encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
    }

    func request(_ index: Int, _ state: State) -> RecordedExchange {
        let step = steps[index]
        var url = "https://api.example.com/" + step.path.map { string($0, state).escapedAsValue }.joined(separator: "/")
        if !step.query.isEmpty {
            url += "?" + step.query.map { "\($0)=\(string($1, state).escapedAsValue)" }.joined(separator: "&")
        }
        var exchange = RecordedExchange(method: step.method, url: url)
        for (name, value) in step.headers {
            exchange.headers[name] = (step.isBearer && name == "Authorization" ? "Bearer " : "") + string(value, state)
        }
        var type: String?
        switch step.body {
        case .none: break
        case .json: (type, exchange.body) = ("application/json", Data(json(.object(step.fields), state).utf8))
        case .form:
            let form = step.fields.map { "\($0)=\(string($1, state).escapedAsValue)" }.joined(separator: "&")
            (type, exchange.body) = ("application/x-www-form-urlencoded", Data(form.utf8))
        case .multipart:
            let boundary = "b\(UInt32.random(in: 1_000_000...9_999_999))"
            let parts = step.fields.map {
                "--\(boundary)\r\nContent-Disposition: form-data; name=\"\($0)\"\r\n\r\n\(string($1, state))\r\n"
            }
            (type, exchange.body) = ("multipart/form-data; boundary=\(boundary)", Data((parts.joined() + "--\(boundary)--\r\n").utf8))
        }
        exchange.headers["Content-Type"] = type
        return exchange
    }

    /// What the server answers to a step.
    func response(_ index: Int, _ state: State) -> RecordedExchange.Response {
        let step = steps[index]
        let text = json(.object(step.answer), state)
        var headers: HTTPHeaders = ["Content-Type": step.isStream ? "text/event-stream" : "application/json"]
        if let issued = state.run.issued.last { headers["Set-Cookie"] = "sid=\(issued.escapedAsValue); Path=/" }
        return .init(statusCode: step.status, headers: headers, body: Data((step.isStream ? "data: \(text)\n\n" : text).utf8))
    }

    /// Takes from a response what later steps send.
    func take(_ response: RecordedExchange.Response, of index: Int, _ state: inout State) -> [String: Any] {
        var text = String(decoding: response.body, as: UTF8.self)
        if steps[index].isStream { text = String(text.dropFirst(6)) }
        let object = (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:]
        for (key, value) in object { state.taken["\(index).\(key)"] = value }
        return object
    }

    /// What a recorder sees of a run.
    func exchanges(of run: Run) -> [RecordedExchange] {
        var state = State(run: run)
        var exchanges: [RecordedExchange] = []
        var order = 0
        for group in groups {
            for index in group {
                exchanges.append(request(index, state))
                exchanges[index].order.begin = order
                exchanges[index].started = Date(timeIntervalSince1970: 1_800_000_000 + Double(order))
                order += 1
            }
            for index in run.endsInOtherOrder ? Array(group.reversed()) : Array(group) {
                let response = response(index, state)
                exchanges[index].response = response
                exchanges[index].order.end = order
                order += 1
                _ = take(response, of: index, &state)
            }
        }
        return exchanges
    }
}

extension String {
    fileprivate func escapedInside(_ prefix: String) -> String {
        prefix.hasPrefix("https") ? escapedAsValue : self
    }
}
