import APIProvider
import Foundation
import Testing

@testable import APIProviderRecordings

private let session = "5f0e8c1ab2d34e5f6a7b8c9d", user = "7d2e3179-f69b-450c-7179-ac8ee8bd8ca9"

/// APIs whose objects have the names of secrets.
let namedObjectAPIs: [OrdinaryAPI] = [
    OrdinaryAPI(
        name: "Devise", secrets: ["c0rrect-h0rse-battery"],
        answers: ["POST /sessions": #"{"session":{"id":"\#(session)","expires_at":"2026-01-01T00:00:00Z","user":{"name":"Ann"}}}"#],
        issued: [session], mistakes: 1...4
    ) { app, mistake in
        let email = mistake == 1 ? "bob%40a.example" : "ann%40a.example"
        let answer = try await app.send(
            .post, "/sessions", [:],
            "session[email]=\(email)&session[password]=\(app.secrets[0])&session[remember]=\(mistake == 2 ? 0 : 1)",
            form: true)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: [String: Any]])
        let id = mistake == 3 ? "6f0e8c1ab2d34e5f6a7b8c9d" : try #require(object["session"]?["id"] as? String)
        #expect(object["session"]?["expires_at"] as? String == "2026-01-01T00:00:00Z")
        try await app.send(mistake == 4 ? .get : .delete, "/sessions/\(id)")
    },
    OrdinaryAPI(
        name: "Vault", secrets: ["V4ultPasswordOfAnn"],
        answers: [
            "POST /v1/auth/userpass/login/ann":
                #"{"auth":{"client_token":"hvs.CAESIJ9x7vQ2","policies":["root"],"entity_id":"\#(user)","lease_duration":3600}}"#
        ], issued: ["hvs.CAESIJ9x7vQ2"], mistakes: 1...4
    ) { app, mistake in
        let path = "/v1/auth/userpass/login/\(mistake == 1 ? "bob" : "ann")"
        let answer = try await app.send(.post, path, [:], #"{"password":"\#(app.secrets[0])"}"#)
        guard mistake != 1 else { return }
        let object = try #require(try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: [String: Any]])
        let auth = try #require(object["auth"])
        #expect(auth["policies"] as? [String] == ["root"])
        let token = mistake == 2 ? "hvs.CAESIJ9x7vQ3" : try #require(auth["client_token"] as? String)
        let id = mistake == 3 ? "8d2e3179-f69b-450c-7179-ac8ee8bd8ca9" : try #require(auth["entity_id"] as? String)
        try await app.send(
            .get, "/v1/identity/entity/id/\(id)\(mistake == 4 ? "?list=true" : "")", ["X-Vault-Token": token])
    },
    OrdinaryAPI(
        name: "PayPal", secrets: ["A21AALtheTokenOfTheShop7"],
        answers: ["POST /v2/payments": #"{"authorization":{"id":"0VF52814937998046","amount":{"value":"10.99"},"status":"CREATED"}}"#],
        mistakes: 1...5
    ) { app, mistake in
        let method = mistake == 1 ? "pm_1NkXh2LkdIwHu7iy" : "pm_1NkXh2LkdIwHu7ix"
        let amount = #"{"value":"\#(mistake == 2 ? "99.99" : "10.99")","currency_code":"\#(mistake == 3 ? "USD" : "EUR")"}"#
        let body = #"{"authorization":{"payment_method":"\#(method)","amount":\#(amount)}}"#
        let answer = try await app.send(.post, "/v2/payments", app.bearer(), body)
        #expect(answer.contains(#""value":"10.99""#) && answer.contains("CREATED"))
        try await app.send(
            .post, "/v2/payments/capture", app.bearer(), #"{"authorization":{"final":\#(mistake == 4 ? "false" : "true")}}"#)
        if mistake == 5 { try await app.send(.post, "/v2/payments", app.bearer(), body) }
    },
    OrdinaryAPI(
        name: "GitLab", secrets: ["glpat-AbCdEf123456GhIjKl78"],
        answers: [
            "POST /api/v4/tokens": #"{"token":{"id":42,"scopes":["api"],"value":"glrt-t3XyZ987654qwer","expires_at":"2026-12-31"}}"#
        ], issued: ["glrt-t3XyZ987654qwer"], mistakes: 1...4
    ) { app, mistake in
        let headers = ["PRIVATE-TOKEN": app.secrets[0]]
        let body =
            #"{"token":{"name":"\#(mistake == 1 ? "admin" : "deploy")","scopes":["\#(mistake == 2 ? "read_api" : "api")"],"#
            + #""expires_at":"\#(mistake == 3 ? "2027-12-31" : "2026-12-31")"}}"#
        let answer = try await app.send(.post, "/api/v4/tokens", headers, body)
        #expect(answer.contains(#""scopes":["api"]"#) && answer.contains("2026-12-31"))
        try await app.send(.delete, "/api/v4/tokens/\(mistake == 4 ? 43 : 42)", headers)
    },
    OrdinaryAPI(
        name: "Keycloak's users", secrets: ["t0kenOfTheAdmin77", "n3wPasswordOfAnn"], answers: [:], mistakes: 1...4
    ) { app, mistake in
        let body =
            #"{"username":"\#(mistake == 1 ? "bob" : "ann")","credentials":[{"type":"password","value":"\#(app.secrets[1])","temporary":"#
            + #"\#(mistake == 2 ? "true" : "false")}],"requiredActions":\#(mistake == 3 ? #"["UPDATE_PASSWORD"]"# : "[]")}"#
        for _ in 0..<(mistake == 4 ? 2 : 1) { try await app.send(.post, "/admin/realms/r/users", app.bearer(), body) }
    },
    OrdinaryAPI(
        name: "STS", secrets: ["AKIAIOSFODNN7EXAMPLE"],
        answers: [
            "POST /": #"{"Credentials":{"AccessKeyId":"ASIAIOSFODNN7EXAMPLE","SessionToken":"FQoGZXIvYXdzEPT2w","Expiration":1411858880}}"#
        ], issued: ["ASIAIOSFODNN7EXAMPLE", "FQoGZXIvYXdzEPT2w"], mistakes: 1...3
    ) { app, mistake in
        let role = "Action=AssumeRole&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2F\(mistake == 1 ? "admin" : "demo")"
        let answer = try await app.send(.post, "/", ["X-Api-Key": app.secrets[0]], role, form: true)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: [String: Any]])
        #expect(object["Credentials"]?["Expiration"] as? Int == 1_411_858_880)
        let token = mistake == 2 ? "FQoGZXIvYXdzEPT2x" : try #require(object["Credentials"]?["SessionToken"] as? String)
        try await app.send(.get, "/\(mistake == 3 ? "b" : "a").txt", ["X-Amz-Security-Token": token])
    },
    OrdinaryAPI(
        name: "A change of password", secrets: ["oldWord-77", "newWord-88"], answers: [:], mistakes: 1...3
    ) { app, mistake in
        let body =
            #"{"user":"\#(mistake == 1 ? "bob" : "ann")","password":{"current":"\#(app.secrets[0])","new":"\#(app.secrets[1])","#
            + #""hint":"\#(mistake == 2 ? "my cat" : "my dog")"}}"#
        for _ in 0..<(mistake == 3 ? 2 : 1) { try await app.send(.put, "/password", [:], body) }
    },
    OrdinaryAPI(
        name: "A wallet", secrets: ["k3yOfTheWallet99"],
        answers: ["GET /wallet": #"{"tokens":[{"symbol":"USDC","balance":"1200.50","decimals":6,"at":"2026-01-01T00:00:00"}]}"#],
        mistakes: 1...3
    ) { app, mistake in
        let answer = try await app.send(.get, "/wallet", ["X-Api-Key": app.secrets[0]])
        #expect(answer.contains("1200.50") && answer.contains("2026-01-01T00:00:00"))
        let body = #"{"token":{"symbol":"\#(mistake == 1 ? "DAI" : "USDC")","amount":"\#(mistake == 2 ? "2.00" : "1.00")"}}"#
        for _ in 0..<(mistake == 3 ? 2 : 1) { try await app.send(.post, "/send", ["X-Api-Key": app.secrets[0]], body) }
    },
    OrdinaryAPI(
        name: "Cognito", secrets: ["C0gnitoPasswordOfAnn"],
        answers: ["POST /": #"{"Session":"AYABeC1-y8qooiuysEv0uM4wAqQ","ChallengeName":"SMS_MFA"}"#], mistakes: 1...4
    ) { app, mistake in
        let target = ["X-Amz-Target": "Idp.\(mistake == 1 ? "SignUp" : "InitiateAuth")"]
        let body =
            #"{"AuthFlow":"USER_PASSWORD_AUTH","AuthParameters":{"USERNAME":"\#(mistake == 2 ? "bob" : "ann")","PASSWORD":"\#(app.secrets[0])"}}"#
        let session = try member("Session", of: try await app.send(.post, "/", target, body))
        let other = mistake == 3 ? "AYABeC1-y8qooiuysEv0uM4wAqR" : session
        try await app.send(
            .post, "/", ["X-Amz-Target": "Idp.RespondToAuthChallenge"],
            #"{"ChallengeName":"\#(mistake == 4 ? "NEW_PASSWORD_REQUIRED" : "SMS_MFA")","Device":"\#(other)"}"#)
    },
    OrdinaryAPI(
        name: "SOAP with a UsernameToken", secrets: ["s0apPasswordOfMine"], answers: ["POST /soap": "<a/>"], mistakes: 1...3
    ) { app, mistake in
        let body = """
            <s:Envelope xmlns:s="u" xmlns:w="v"><s:Header><w:UsernameToken><w:Username>\(mistake == 1 ? "bob" : "ann")</w:Username>\
            <w:Password Type="\(mistake == 2 ? "Digest" : "Text")">\(app.secrets[0])</w:Password></w:UsernameToken></s:Header>\
            <s:Body><Order>\(mistake == 3 ? 8 : 7)</Order></s:Body></s:Envelope>
            """
        try await app.send(.post, "/soap", [:], body, type: "text/xml")
    },
]
