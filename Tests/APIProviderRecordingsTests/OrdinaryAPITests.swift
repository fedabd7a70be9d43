import APIProvider
import Foundation
import TestSupport
import Testing

@testable import APIProviderRecordings

/// Requests to an API in the shape that its documentation gives, and programs that do something else.
struct OrdinaryAPI: Sendable, CustomTestStringConvertible {
    typealias Program = @Sendable (_ app: App, _ mistake: Int) async throws -> Void

    let name: String
    /// The secrets of the environment.
    let secrets: [String]
    /// The answer to each method and path, and what of it is secret.
    let answers: [String: String]
    var issued: [String] = []
    let mistakes: ClosedRange<Int>
    let program: Program

    var testDescription: String { name }

    struct App: Sendable {
        let provider: DefaultAPIProvider
        let secrets: [String]

        @discardableResult
        func send(
            _ method: HTTPMethod, _ path: String, _ headers: [String: String] = [:], _ body: String? = nil, form: Bool = false,
            type: String = "application/json"
        ) async throws -> String {
            try await provider.text(
                method, path, headers: headers, json: body, type: form ? "application/x-www-form-urlencoded" : type)
        }

        func bearer(_ index: Int = 0) -> [String: String] { ["Authorization": "Bearer \(secrets[index])"] }
    }

    var server: ClosureTransport {
        ClosureTransport { request in
            let answer = answers["\(request.method.rawValue) \(request.url.path)"] ?? "{}"
            let headers: HTTPHeaders = [
                "Content-Type": answer.hasPrefix("<") ? "text/html" : answer.hasPrefix("data:") ? "text/event-stream" : "application/json"
            ]
            return .just(APIResponse(to: request, headers: headers, data: Data(answer.utf8)))
        }
    }
}

/// The value of a member of JSON.
func member(_ name: String, of text: String) throws -> String {
    let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    return try #require(object[name] as? String)
}

private let first = jwt(#"{"sub":"u1","exp":1900000000}"#, "Zmlyc3RTaWduYXR1cmUx"),
    second = jwt(#"{"sub":"u1","exp":1900000900}"#, "c2Vjb25kU2lnbmF0dXJl")

private let ordinaryAPIs: [OrdinaryAPI] = [
    OrdinaryAPI(
        name: "GitHub", secrets: ["ghp_16C7e42F292c6912E7710c838347Ae178B4a"],
        answers: ["GET /user": #"{"login":"octocat","node_id":"MDQ6VXNlcjE="}"#, "POST /repos/o/r/issues": #"{"number":7}"#],
        mistakes: 1...5
    ) { app, mistake in
        try await app.send(.get, "/user", app.bearer())
        for page in [1, mistake == 1 ? 3 : 2] {
            try await app.send(.get, "/repos/o/r/issues?state=\(mistake == 2 ? "closed" : "open")&page=\(page)", app.bearer())
        }
        let issue = mistake == 3 ? #"{"title":"Bug","labels":["b"]}"# : #"{"labels":["a"],"title":"Bug"}"#
        for _ in 0..<(mistake == 4 ? 2 : 1) { try await app.send(.post, "/repos/o/r/issues", app.bearer(), issue) }
        try await app.send(mistake == 5 ? .put : .patch, "/repos/o/r/issues/7", app.bearer(), #"{"state":"closed"}"#)
    },
    OrdinaryAPI(
        name: "Stripe", secrets: ["sk_test_4eC39HqLyjWDarjtT1zdp7dc"], answers: ["POST /v1/customers": #"{"id":"cus_9s6XKzkNRiz8i3"}"#],
        mistakes: 1...4
    ) { app, mistake in
        let basic = ["Authorization": "Basic \(Data("\(app.secrets[0]):".utf8).base64EncodedString())"]
        let customer = try member("id", of: try await app.send(.post, "/v1/customers", basic, "email=a%40b.example", form: true))
        let charge = "amount=\(mistake == 1 ? 2001 : 2000)&currency=eur&customer=\(mistake == 2 ? "cus_9s6XKzkNRiz8i4" : customer)"
        for _ in 0..<(mistake == 3 ? 2 : 1) { try await app.send(.post, "/v1/charges", basic, charge, form: true) }
        try await app.send(.get, "/v1/charges?limit=\(mistake == 4 ? 4 : 3)", basic)
    },
    OrdinaryAPI(
        name: "Firebase", secrets: ["AIzaSyDaGmWKa4JsXZ-HjGw7ISLn_3namBGewQe", "c0rrect-h0rse-battery"],
        answers: [
            "POST /v1/accounts:signInWithPassword": #"{"idToken":"\#(first)","refreshToken":"AMf-vBx1y2z3A4b5C6"}"#,
            "POST /v1/token": #"{"id_token":"\#(second)"}"#,
        ], issued: [first, second, "AMf-vBx1y2z3A4b5C6"], mistakes: 1...5
    ) { app, mistake in
        let login = #"{"email":"a@b.example","password":"\#(app.secrets[1])","returnSecureToken":\#(mistake == 1 ? "false" : "true")}"#
        let answer = try await app.send(.post, "/v1/accounts:signInWithPassword?key=\(app.secrets[0])", [:], login)
        let old = try member("idToken", of: answer), refresh = try member("refreshToken", of: answer)
        let body = "grant_type=refresh_token&refresh_token=\(mistake == 2 ? old : refresh)"
        let new = try member("id_token", of: try await app.send(.post, "/v1/token?key=\(app.secrets[0])", [:], body, form: true))
        let bearer = ["Authorization": "Bearer \(mistake == 3 ? old : mistake == 4 ? jwt("{}", "c3RhbGVTaWduYXR1cmUx") : new)"]
        try await app.send(.post, "/v1/docs:runQuery", bearer, #"{"from":[{"collectionId":"\#(mistake == 5 ? "b" : "a")"}]}"#)
    },
    OrdinaryAPI(
        name: "OAuth", secrets: ["cl13ntSecretOfMine", "us3rPasswordOfMine"],
        answers: ["POST /token": #"{"access_token":"acc3ssTokenOne1","refresh_token":"r3freshTokenOne","token_type":"Bearer"}"#],
        issued: ["acc3ssTokenOne1", "r3freshTokenOne"], mistakes: 1...5
    ) { app, mistake in
        let form =
            "grant_type=password&client_id=\(mistake == 1 ? "web" : "app")&client_secret=\(app.secrets[0])&username=ann&password=\(app.secrets[1])"
        let answer = try await app.send(.post, "/token", [:], form + (mistake == 2 ? "&scope=all" : ""), form: true)
        let (access, refresh) = (try member("access_token", of: answer), try member("refresh_token", of: answer))
        try await app.send(
            .get, "/userinfo", ["Authorization": "Bearer \(mistake == 3 ? refresh : mistake == 4 ? "stal3TokenOfMine" : access)"])
        try await app.send(.post, "/revoke", [:], "token=\(mistake == 5 ? access : refresh)", form: true)
    },
    OrdinaryAPI(
        name: "Signed links", secrets: ["k3yOfTheLinkServer"],
        answers: [
            "GET /links":
                #"{"url":"https://b.s3.example/photo.png?X-Amz-Credential=AKIAIOSFODNN7EXAMPLE&X-Amz-Expires=60&X-Amz-Signature=fe5f80f77d5fa3beca038a248ff027d0445342fe2855ddc963176630326f1024"}"#
        ], issued: ["fe5f80f77d5fa3beca038a248ff027d0445342fe2855ddc963176630326f1024"], mistakes: 1...4
    ) { app, mistake in
        let link = try member("url", of: try await app.send(.get, "/links", ["X-Api-Key": app.secrets[0]]))
        let url = mistake == 1 ? link.replacingOccurrences(of: "photo", with: "other") : link
        let longer = mistake == 2 ? url.replacingOccurrences(of: "Expires=60", with: "Expires=90") : url
        let elsewhere = mistake == 3 ? longer.replacingOccurrences(of: "b.s3", with: "c.s3") : longer
        try await app.send(mistake == 4 ? .put : .get, elsewhere)
    },
    OrdinaryAPI(
        name: "GraphQL", secrets: ["grAphQLTokenOfMine1"], answers: ["POST /graphql": #"{"data":{"viewer":{"id":"MDQ6VXNlcjE"}}}"#],
        mistakes: 1...4
    ) { app, mistake in
        let query = #"{"query":"query { viewer { id\#(mistake == 1 ? " name" : "") } }"}"#
        for _ in 0..<2 { try await app.send(.post, "/graphql", app.bearer(), query) }
        let name = mistake == 2 ? "removeStar" : "addStar"
        let star = #"{"query":"mutation($id:ID!){\#(name)(id:$id){id}}","variables":{"id":"\#(mistake == 3 ? "R_2" : "R_1")"}}"#
        for _ in 0..<(mistake == 4 ? 2 : 1) { try await app.send(.post, "/graphql", app.bearer(), star) }
        try await app.send(.post, "/graphql", app.bearer(), query)
    },
    OrdinaryAPI(
        name: "Notion", secrets: ["secret_16C7e42F292c6912E7710c838347Ae178B4a"],
        answers: ["POST /v1/databases/d1/query": #"{"results":[{"id":"be633bf1-dfa0-436d-b259-571129a590e5"}]}"#], mistakes: 1...5
    ) { app, mistake in
        let filter =
            #"{"filter":{"property":"Done","checkbox":{"equals":\#(mistake == 1 ? "false" : "true")}},"page_size":\#(mistake == 2 ? "20" : "10")}"#
        try await app.send(.post, "/v1/databases/\(mistake == 3 ? "d2" : "d1")/query", app.bearer(), filter)
        let page = mistake == 4 ? "be633bf1-dfa0-436d-b259-571129a590e6" : "be633bf1-dfa0-436d-b259-571129a590e5"
        try await app.send(.patch, "/v1/pages/\(page)", app.bearer(), #"{"archived":\#(mistake == 5 ? #""true""# : "true")}"#)
    },
    OrdinaryAPI(
        name: "Rails", secrets: ["p4sswordOfTheUser1"],
        answers: [
            "GET /login": #"<meta name="csrf-token" content="csrfOfLogin+1A/b=="><form></form>"#,
            "GET /other": #"<input type="hidden" name="authenticity_token" value="csrfOfOther+2B/c==">"#,
        ], issued: ["csrfOfLogin+1A/b==", "csrfOfOther+2B/c=="], mistakes: 1...4
    ) { app, mistake in
        func token(_ path: String, _ start: String) async throws -> String {
            let page = try await app.send(.get, path)
            return String(try #require(page.components(separatedBy: start).last?.prefix { $0 != "\"" }))
        }
        let login = try await token("/login", "content=\""), other = try await token("/other", "value=\"")
        let csrf = mistake == 1 ? other : mistake == 2 ? "stal3Csrf+3C/d==" : login
        let form = "user=ann&password=\(app.secrets[0])" + (mistake == 3 ? "" : "&authenticity_token=\(csrf.escapedAsValue)")
        for _ in 0..<(mistake == 4 ? 2 : 1) { try await app.send(.post, "/session", [:], form, form: true) }
        try await app.send(.post, "/orders", ["X-CSRF-Token": other], #"{"n":1}"#)
    },
    OrdinaryAPI(
        name: "Django", secrets: ["s3ssionOfUserOne0001", "s3ssionOfUserTwo0002"],
        answers: ["GET /me": #"{"id":1}"#, "POST /orders": #"{"order":1}"#], mistakes: 1...4
    ) { app, mistake in
        func cookie(_ index: Int) -> [String: String] { ["Cookie": "sessionid=\(app.secrets[index])"] }
        for user in [0, 1] { try await app.send(.get, "/me?n=\(mistake == 1 ? user + 1 : user)", cookie(mistake == 2 ? 0 : user)) }
        for user in [0, 1] { try await app.send(.post, "/orders", cookie(user), #"{"item":\#(mistake == 3 ? 9 : user)}"#) }
        if mistake == 4 { try await app.send(.post, "/orders", cookie(0), #"{"item":0}"#) }
    },
    OrdinaryAPI(
        name: "Elasticsearch", secrets: ["VnVhQ2ZHY0JDZGJrUW0tZTVhT3g6dWkybHAyYXhUTm1zeWFrdzl0dk5udw=="],
        answers: ["POST /logs/_search": #"{"hits":{"total":1}}"#], mistakes: 1...4
    ) { app, mistake in
        let search = #"{"query":{"match":{"level":"\#(mistake == 1 ? "warn" : "error")"}},"size":\#(mistake == 2 ? "11" : "10")}"#
        let key = ["Authorization": "ApiKey \(app.secrets[0])"]
        for _ in 0..<(mistake == 3 ? 2 : 1) { try await app.send(.post, "/logs/_search", key, search) }
        try await app.send(.delete, "/logs/_doc/\(mistake == 4 ? 2 : 1)", key)
    },
    OrdinaryAPI(
        name: "DynamoDB", secrets: ["AKIAIOSFODNN7EXAMPLE"], answers: ["POST /": #"{"Item":{"id":{"S":"1"}}}"#], mistakes: 1...4
    ) { app, mistake in
        func headers(_ operation: String) -> [String: String] {
            let signature = UUID().uuidString.lowercased().filter { $0 != "-" }
            let scope = "Credential=\(app.secrets[0])/20260101/eu-west-1/dynamodb/aws4_request"
            return [
                "X-Amz-Target": "DynamoDB_20120810.\(operation)",
                "Authorization": "AWS4-HMAC-SHA256 \(scope), SignedHeaders=host;x-amz-date, Signature=\(signature)\(signature)",
            ]
        }
        let key = #"{"TableName":"\#(mistake == 1 ? "U" : "T")","Key":{"id":{"S":"\#(mistake == 2 ? 2 : 1)"}}}"#
        try await app.send(.post, "/", headers(mistake == 3 ? "DeleteItem" : "GetItem"), key)
        for _ in 0..<(mistake == 4 ? 2 : 1) {
            try await app.send(.post, "/", headers("PutItem"), #"{"TableName":"T","Item":{"n":{"N":"1"}}}"#)
        }
    },
]

@Suite("Ordinary APIs", tenMinutes)
struct OrdinaryAPITests {
    @Test(
        "None is refused, no secret is in the file, a replay is green with any secrets, and each wrong program is red",
        arguments: ordinaryAPIs + otherOrdinaryAPIs + namedObjectAPIs)
    func api(_ api: OrdinaryAPI) async throws {
        let test = RecordedTest()
        func run(_ mode: Recording.Mode, _ secrets: [String], _ mistake: Int = 0) async throws {
            try await test.run(mode, from: api.server) { try await api.program(.init(provider: $0, secrets: secrets), mistake) }
        }
        try await run(.record, api.secrets)
        let text = try test.text
        for secret in api.secrets + api.issued {
            #expect(!text.contains(secret.replacingOccurrences(of: "/", with: "\\/")) && !text.contains(secret))
        }
        let others = api.secrets.map { "\($0)-of-ci" }
        for secrets in [api.secrets, others, api.secrets.map { _ in "" }, api.secrets.map { _ in "dummy" }] {
            // Several users that have one text cannot be told apart.
            if Set(secrets).count < secrets.count, api.name == "Django" { continue }
            await #expect(throws: Never.self, "\(secrets)") { try await run(.replay, secrets) }
        }
        for mistake in api.mistakes {
            await #expect(throws: (any Error).self, "mistake \(mistake)") { try await run(.replay, others, mistake) }
        }
    }
}
