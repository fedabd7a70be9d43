import APIProvider
import Foundation
import TestSupport
import Testing

@testable import APIProviderRecordings

@Suite("Names of secrets", tenMinutes, .longComputing)
struct NamesTests {
    /// As the documentation of services has them, in the members and the headers of requests and responses.
    private static let documented = """
        access_token accessToken AccessToken refresh_token refreshToken RefreshToken id_token idToken IdToken token Token auth_token authToken \
        AuthToken api_token apiToken bearer_token session_token sessionToken SessionToken security_token SecurityToken device_token push_token \
        registration_token csrf_token csrfToken csrfmiddlewaretoken authenticity_token __RequestVerificationToken xsrf_token XSRF-TOKEN \
        x-csrf-token state_token stateToken mfa_token mfaToken invite_token reset_password_token confirmation_token unlock_token public_token \
        link_token page_token personal_access_token private_token PRIVATE-TOKEN job_token runners_token identitytoken registrytoken root_token \
        X-Vault-Token X-Consul-Token X-Auth-Token X-Amz-Security-Token X-Shopify-Access-Token Media-User-Token oauth_token oauth_token_secret \
        accesstoken user[token] token_v2 access_token_hash \
        client_secret clientSecret ClientSecret secret app_secret consumer_secret signing_secret webhook_secret shared_secret secret_key \
        secretKey SecretKey secret_access_key SecretAccessKey aws_secret_access_key totp_secret SecretHash secrets[0] \
        api_key apiKey ApiKey APIKEY apikey x-api-key X-API-Key X-RapidAPI-Key X-Algolia-API-Key api_keys access_key accessKey AccessKey \
        private_key privateKey account_key AccountKey SharedAccessKey \
        password Password PASSWORD passwd pwd user_password user[password] current_password new_password newPassword password_confirmation \
        passwordConfirm password_again old_password db_password passphrase Passphrase \
        credential credentials authorization proxy_authorization session_id sessionId SessionID csrf xsrf signature Signature sig Sig \
        X-Amz-Signature webhook_signature assertion client_assertion SAMLResponse recovery_code recoveryCode backup_codes verification_code \
        mfa_code device_code confirmation_code security_code oob_code passcode pass_code otp OTP pin PIN cvv cvc card_number cardNumber
        """.split(separator: " ").map(String.init)
    /// Requests alone.
    private static let documentedInRequests = """
        auth X-Auth jwt app_id appid session cookie key auth_key authKey client_key subscription_key Ocp-Apim-Subscription-Key functions_key \
        x-functions-key license_key master_key server_key shared_key signing_key encryption_key session_key consumer_key write_key \
        unseal_key code_verifier code_challenge
        """.split(separator: " ").map(String.init)

    @Test("Under names that services document, no secret stays, in a member, a form, a query, an element or a header")
    func documented() {
        #expect(Self.documented.count + Self.documentedInRequests.count >= 138)
        // By day, each name in two of the places.
        for (number, name) in (Self.documented + Self.documentedInRequests).enumerated() {
            let secret = "Pl4nted\(name.count)Secret9x"
            let element = name.filter { $0.isLetter || $0 == "_" || $0 == "-" }
            let requests = [
                sending("{\"\(name)\":\"\(secret)\"}"), sending("{\"a\":{\"name\":\"\(name)\",\"value\":\"\(secret)\"}}"),
                exchange("POST", headers: ["Content-Type": "application/x-www-form-urlencoded"], body: "\(name)=\(secret)"),
                exchange("GET", "https://a.example/?\(name.escapedAsValue)=\(secret)"),
                exchange(headers: [element == "cookie" ? "X-Cookie" : element: secret]),
                exchange("POST", headers: ["Content-Type": "text/xml"], body: "<a><\(element)>\(secret)</\(element)></a>"),
            ]
            let responses = Self.documentedInRequests.contains(name) ? [] : [exchange(answer: "{\"\(name)\":\"\(secret)\"}")]
            for exchange in (isNight ? requests : [requests[number % requests.count]]) + responses {
                let recording = NewRecording([exchange])
                #expect(recording.problems == [] && !recording.text.contains(secret), "\(name): \(recording.text)")
            }
        }
    }

    @Test(
        "Other names are no secrets",
        arguments: [
            "token_type", "total_tokens_used", "sortKey", "Idempotency-Key", "primary_key", "country_code", "code", "keys", "author",
            "authored", "signed", "pinned", "opinion", "spinner", "hotpot", "session_count", "cookies_policy", "passenger", "épin",
        ])
    func others(name: String) {
        #expect(CredentialNames.match(name) == nil)
        let recording = NewRecording([exchange(answer: "{\"\(name)\":\"abc123DEF456\"}"), sending("{\"\(name)\":\"abc123DEF456\"}", at: 1)])
        #expect(recording.answer() == "{\"\(name)\":\"abc123DEF456\"}" && recording.body(1) == recording.answer())
    }

    @Test(
        "A number is secret only under pin, otp, passcode, cvv, cvc and card number, and under a name that the test hides",
        arguments: [
            (#"{"pin":4711,"otp":482913,"passCode":1,"cvv":123,"cvc":9876,"card_number":4111111111111111}"#, true),
            (#"{"token":4711,"session_id":17,"password":12345678,"api_key":99999999,"pin":{"lat":48.1}}"#, false),
        ])
    func numbers(body: String, isHidden: Bool) {
        let digits = NewRecording([exchange(answer: body)]).answer()
        #expect((digits == body) != isHidden, "\(digits)")
        if isHidden { for number in ["4711", "482913", "123,", "9876", "411111"] { #expect(!digits.contains(number), "\(digits)") } }
        let hidden = NewRecording([exchange(answer: #"{"n":4711,"a":[{"n":-48.137}]}"#)], RecordingOptions(hiding: ["n"])).answer()
        #expect(hidden == #"{"n":1000,"a":[{"n":-10.001}]}"#)
    }

    @Test(
        "In a response, a short or plain word, a sentence, and what has a name that responses use for much else stays",
        arguments: [
            #"{"token":"none","secret":"YES","signature":"Best regards,\nAnn, 2nd floor","session":"2026-a1b2c3d4","auth":"OAuth2-PKCE9"}"#,
            #"{"errors":{"password":["is too short (minimum is 8 characters)"]}}"#, #"{"jwt":"abc123DEF456","key":"abc123DEF456"}"#,
        ])
    func responses(body: String) {
        #expect(NewRecording([exchange(answer: body)]).answer() == body)
        // In a request, each is what the app sends as a secret.
        if body.contains("jwt") { #expect(!NewRecording([sending(body)]).body().contains("abc123DEF456")) }
    }

    @Test("In a response, a short text under password, passphrase, and under the six names of numbers, is secret, and a word that was sent")
    func shortTexts() {
        let body = #"{"password":"adm1n","passphrase":"x-z","pin":"7","otp":"q7x","role":"adm1n"}"#
        let answer = NewRecording([exchange(answer: body)]).answer()
        #expect(answer == #"{"password":"password-001","passphrase":"passphrase-001","pin":"1","otp":"otp-0001","role":"adm1n"}"#)
        let word = #"{"password":"kennwort","role":"admin"}"#, hidden = #"{"password":"password-001","role":"admin"}"#
        #expect(NewRecording([exchange(answer: word)]).answer() == word)
        #expect(NewRecording([sending(word, answer: word)]).answer() == hidden)
        #expect(NewRecording([exchange(answer: #"{"password":"kXqPzWmR"}"#)]).answer() == #"{"password":"password-001"}"#)
    }

    @Test(
        "A text is searched for names, also if it begins with a digit or a URL's scheme",
        arguments: [
            "2024-11-02 10:00:00 login user: ann, password: Hunter2222abc", "3: x\nclient_secret: Hunter2222abc",
            "1<password>Hunter2222abc</password>", "http 401 for ann, token: Hunter2222abc", "httpToken:Hunter2222abc",
            "https://a.example/ token: Hunter2222abc", "https://a.example/<password>Hunter2222abc</password>",
            "https://a.example/to/https%3A%2F%2Fb.example%3Ftoken%3DHunter2222abc", "1.password%3DHunter2222abc",
            "T: 1\npassword: Hunter2222abc",
        ])
    func searchedTexts(text: String) {
        for exchange in [
            exchange("POST", headers: ["Content-Type": "text/plain"], body: text), sending("{\"message\":\(text.quoted)}"),
            exchange(answer: text, type: "text/plain"), exchange(answer: "{\"message\":\(text.quoted)}"),
        ] {
            let recording = NewRecording([exchange])
            #expect(recording.problems == [] && !recording.text.contains("Hunter2222abc"), "\(recording.text)")
        }
    }

    @Test(
        "A time, a number and a URL are searched for nothing",
        arguments: [
            "2024-11-02 10:00:00", "2024-11-02T10:00:00.123+01:00", "10.00", "12:30",
            "https://a.example:8080/token:x/password:Hunter2222abc",
        ])
    func plainTexts(text: String) {
        #expect(NewRecording([exchange(answer: "{\"message\":\(text.quoted)}")]).answer() == "{\"message\":\(text.quoted)}")
    }

    @Test(
        "What is hidden is hidden with all below it: objects, lists of objects, elements, parts and headers",
        arguments: [
            ("application/json", #"{"address":{"street":"Elm Street 5","no":[5,{"zip":"12345"}]},"other":"stays"}"#),
            ("application/json", #"{"a":"{\"address\":[{\"street\":\"Elm Street 5\"}]}","other":"stays"}"#),
            ("text/xml", "<a><address><street kind=\"Elm Street 5\">Elm Street 5</street></address><other>stays</other></a>"),
            (
                "multipart/form-data; boundary=b",
                "--b\r\nContent-Disposition: form-data; name=\"address\"\r\n\r\nElm Street 5\r\n--b\r\nContent-Disposition: form-data; "
                    + "name=\"other\"\r\n\r\nstays\r\n--b--\r\n"
            ),
            ("application/x-www-form-urlencoded", "address=Elm+Street+5&other=stays"),
        ])
    func hiding(type: String, body: String) {
        let request = exchange("POST", headers: ["Content-Type": type], body: body)
        for exchange in [request, exchange(answer: body, type: type)] {
            let recording = NewRecording([exchange], RecordingOptions(hiding: ["address"]))
            let text = recording.text
            #expect(recording.problems == [] && !text.contains("Elm") && !text.contains("12345"), "\(text)")
            #expect(text.contains("stays") && text.contains("address-001"), "\(text)")
        }
    }

    @Test("Names are hidden and kept exactly as they are written, and those of headers in any case")
    func exactNames() {
        func recording(_ exchange: RecordedExchange, hiding: [String] = [], keeping: [String] = []) -> NewRecording {
            NewRecording([exchange], RecordingOptions(hiding: hiding, keeping: keeping))
        }
        let codes = #"{"code":"abc123DEF","country_code":"abc123XYZ"}"#
        #expect(recording(exchange(answer: codes), hiding: ["code"]).answer() == #"{"code":"code-001","country_code":"abc123XYZ"}"#)
        let tokens = #"{"token":"abc123DEF","access_token":"abc123XYZ"}"#
        #expect(recording(exchange(answer: tokens), keeping: ["token"]).answer() == #"{"token":"abc123DEF","access_token":"token-001"}"#)
        #expect(!recording(exchange(headers: ["X-Tenant-Name": "abc123DEF"]), hiding: ["x-tenant-name"]).text.contains("abc123DEF"))
    }

    @Test("No name that is kept uncovers an Authorization, what the program marks, or what can only be a key")
    func kept() {
        let key = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
        var request = exchange(
            headers: ["Authorization": "Bearer PlantedBearer77"], answer: "{\"authorization\":\"approved_2024\",\"token\":\"\(key)\"}")
        request.markedSecrets = ["marked-customer-9"]
        request.url += "x/marked-customer-9"
        let recording = NewRecording([request], RecordingOptions(keeping: ["authorization", "Authorization", "token", "path 2"]))
        #expect(recording.answer() == #"{"authorization":"approved_2024","token":"key-0001"}"#)
        for text in ["PlantedBearer77", key, "marked-customer"] { #expect(!recording.text.contains(text), "\(recording.text)") }
        let cookie = exchange(headers: ["Cookie": "sid=abcDEF123456789xyz; lang=de-DE-2024-abcdef0123"])
        let kept = NewRecording([cookie], RecordingOptions(keeping: ["lang"])).replacer.exchanges[0]
        #expect(kept.headers["Cookie"] == "sid=cookie-001; lang=de-DE-2024-abcdef0123")
    }
}

extension String {
    /// As a text in JSON.
    fileprivate var quoted: String { "\"\(escapedInJSON)\"" }
}
