import APIProvider
import Foundation

@testable import APIProviderRecordings

private let keycloak = jwt(#"{"sub":"s1","azp":"reports-job","exp":1900000000}"#, "a2V5Y2xvYWtTaWduYXR1cmU")

/// The other ordinary APIs, with credentials in each part of a request.
let otherOrdinaryAPIs: [OrdinaryAPI] = [
    OrdinaryAPI(
        name: "Keycloak", secrets: ["kc9ClientSecretOfMine"],
        answers: [
            "POST /realms/r/protocol/openid-connect/token": #"{"access_token":"\#(keycloak)","expires_in":300,"token_type":"Bearer"}"#,
            "GET /admin/realms/r/users": #"[{"id":"f:1","username":"ann"}]"#,
        ], issued: [keycloak], mistakes: 1...4
    ) { app, mistake in
        let basic = ["Authorization": "Basic \(Data("reports-job:\(app.secrets[0])".utf8).base64EncodedString())"]
        let form = "grant_type=client_credentials&scope=\(mistake == 1 ? "openid" : "users")"
        let answer = try await app.send(.post, "/realms/r/protocol/openid-connect/token", basic, form, form: true)
        let token = mistake == 2 ? jwt("{}", "c3RhbGVTaWduYXR1cmUx") : try member("access_token", of: answer)
        let path = "/admin/realms/\(mistake == 3 ? "q" : "r")/users?max=\(mistake == 4 ? 3 : 2)"
        try await app.send(.get, path, ["Authorization": "Bearer \(token)"])
    },
    OrdinaryAPI(
        name: "Slack", secrets: ["xoxb-2345678901-2345678901234-AbCdEfGhIjKlMnOp"],
        answers: ["POST /api/chat.postMessage": #"{"ok":true,"channel":"C1","ts":"1503435956.000247"}"#], mistakes: 1...5
    ) { app, mistake in
        let message = #"{"channel":"\#(mistake == 1 ? "C2" : "C1")","text":"\#(mistake == 2 ? "Good bye" : "Hello")"}"#
        var answer = ""
        for _ in 0..<(mistake == 3 ? 2 : 1) { answer = try await app.send(.post, "/api/chat.postMessage", app.bearer(), message) }
        let time = mistake == 4 ? "1503435956.000248" : try member("ts", of: answer)
        let method = mistake == 5 ? "delete" : "update"
        try await app.send(.post, "/api/chat.\(method)", app.bearer(), #"{"channel":"C1","ts":"\#(time)","text":"Hello!"}"#)
    },
    OrdinaryAPI(
        name: "Twilio", secrets: ["f2d1a8c94be07635d1c2b3a495867768"],
        answers: ["POST /2010-04-01/Accounts/AC1/Messages.json": #"{"sid":"SM87105da94bff44b999e4e6eb90d8eb6a"}"#], mistakes: 1...4
    ) { app, mistake in
        let basic = ["Authorization": "Basic \(Data("AC1:\(app.secrets[0])".utf8).base64EncodedString())"]
        let form = "To=%2B4930901820\(mistake == 1 ? 1 : 2)&From=%2B15005550006&Body=Hi+there"
        var answer = ""
        for _ in 0..<(mistake == 2 ? 2 : 1) {
            answer = try await app.send(.post, "/2010-04-01/Accounts/AC1/Messages.json", basic, form, form: true)
        }
        let id = mistake == 3 ? "SM87105da94bff44b999e4e6eb90d8eb6b" : try member("sid", of: answer)
        try await app.send(mistake == 4 ? .delete : .get, "/2010-04-01/Accounts/AC1/Messages/\(id).json", basic)
    },
    OrdinaryAPI(
        name: "PKCE", secrets: [], answers: ["GET /authorize": #"{"code":"SplxlOBeZQQYbYS6WxSbIA"}"#], mistakes: 1...4
    ) { app, mistake in
        func random() -> String { UUID().uuidString.filter { $0 != "-" } + "aZ9" }
        let page = "/authorize?response_type=code&client_id=\(mistake == 1 ? "web" : "app")&code_challenge=\(random())&state=\(random())"
        let code = mistake == 2 ? "SplxlOBeZQQYbYS6WxSbIB" : try member("code", of: try await app.send(.get, page))
        let verifier = mistake == 3 ? "" : "&code_verifier=\(random())"
        let redirect = "app%3A%2F%2F\(mistake == 4 ? "other" : "callback")"
        try await app.send(
            .post, "/token", [:], "grant_type=authorization_code&code=\(code)&redirect_uri=\(redirect)\(verifier)", form: true)
    },
    OrdinaryAPI(name: "S3", secrets: ["AKIAIOSFODNN7EXAMPLE"], answers: [:], mistakes: 1...4) { app, mistake in
        let signature = UUID().uuidString.lowercased().filter { $0 != "-" }
        let scope = "Credential=\(app.secrets[0])/20260101/eu-west-1/s3/aws4_request, SignedHeaders=host;x-amz-date"
        let headers = ["Authorization": "AWS4-HMAC-SHA256 \(scope), Signature=\(signature)\(signature)", "X-Amz-Date": "20260101T000000Z"]
        let path = "/bucket/\(mistake == 1 ? "other" : "notes").txt"
        for _ in 0..<(mistake == 2 ? 2 : 1) { try await app.send(.put, path, headers, mistake == 3 ? "two" : "one", type: "text/plain") }
        try await app.send(mistake == 4 ? .delete : .head, path, headers)
    },
    OrdinaryAPI(
        name: "Shopify", secrets: ["shpat_0123456789abcdef0123456789abcdef"],
        answers: ["GET /admin/api/products.json": #"{"products":[{"id":632910392}]}"#], mistakes: 1...4
    ) { app, mistake in
        let token = ["X-Shopify-Access-Token": app.secrets[0]]
        try await app.send(.get, "/admin/api/products.json?limit=\(mistake == 1 ? 51 : 50)", token)
        let price = #"{"variant":{"id":\#(mistake == 2 ? 632910393 : 632910392),"price":"\#(mistake == 3 ? "9.99" : "9.90")"}}"#
        try await app.send(.put, "/admin/api/variants/632910392.json", mistake == 4 ? [:] : token, price)
    },
    OrdinaryAPI(
        name: "SOAP", secrets: ["s0apPasswordOfMine"], answers: ["POST /soap": "<Envelope><Body><Order>7</Order></Body></Envelope>"],
        mistakes: 1...5
    ) { app, mistake in
        let body = """
            <s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Header><UsernameToken><Username>ann</Username>\
            <Password>\(app.secrets[0])</Password></UsernameToken></s:Header><s:Body><Get><Order>\(mistake == 1 ? 8 : 7)</Order>\
            \(mistake == 2 ? "" : "<Lines>true</Lines>")</Get></s:Body></s:Envelope>
            """
        let action = ["SOAPAction": mistake == 3 ? "\"urn:Cancel\"" : "\"urn:Get\""]
        for _ in 0..<(mistake == 4 ? 2 : 1) {
            try await app.send(
                .post, "/soap", action, mistake == 5 ? body.replacingOccurrences(of: "Get>", with: "Put>") : body, type: "text/xml")
        }
    },
    OrdinaryAPI(
        name: "A stream of events", secrets: ["sk-proj-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789"],
        answers: ["POST /v1/chat/completions": "data: {\"id\":\"c1\",\"delta\":\"Hel\"}\n\ndata: {\"delta\":\"lo\"}\n\ndata: [DONE]\n\n"],
        mistakes: 1...4
    ) { app, mistake in
        let body =
            #"{"model":"m\#(mistake == 1 ? 2 : 1)","temperature":\#(mistake == 2 ? 0.7 : 0.5),"stream":true,"#
            + #""messages":[{"role":"\#(mistake == 3 ? "system" : "user")","content":"Hi"}]}"#
        for _ in 0..<(mistake == 4 ? 2 : 1) { try await app.send(.post, "/v1/chat/completions", app.bearer(), body) }
    },
    OrdinaryAPI(
        name: "An upload in parts", secrets: ["874837483274837", "a788d68f86a6f868af71"],
        answers: ["POST /v1_1/demo/image/upload": #"{"public_id":"cr4mxeqx5zb8rlakpfkg"}"#], mistakes: 1...5
    ) { app, mistake in
        let boundary = UUID().uuidString
        func part(_ name: String, _ text: String) -> String {
            "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(text)\r\n"
        }
        let parts =
            part("api_key", app.secrets[0]) + part("signature", app.secrets[1]) + (mistake == 1 ? "" : part("folder", "a"))
            + part("file\"; filename=\"\(mistake == 2 ? "b" : "a").png", mistake == 3 ? "two" : "one")
        for _ in 0..<(mistake == 4 ? 2 : 1) {
            try await app.send(
                .post, "/v1_1/demo/image/upload\(mistake == 5 ? "?eager=1" : "")", [:], "\(parts)--\(boundary)--\r\n",
                type: "multipart/form-data; boundary=\(boundary)")
        }
    },
]
