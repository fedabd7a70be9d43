import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("JSON of any shape", tenMinutes)
struct JSONValueTests {
    private func read(_ text: String, by decoder: JSONDecoder = JSONDecoder()) throws -> JSONValue {
        try decoder.decode(JSONValue.self, from: Data(text.utf8))
    }

    private func written(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private func sent(_ body: HTTPBody) throws -> String {
        let request = try Endpoint<Void>(.post, "", body: body).preparedRequest(relativeTo: example)
        #expect(request.headers["Content-Type"] == "application/json")
        return String(decoding: try request.body?.data() ?? Data(), as: UTF8.self)
    }

    @Test("Literals and variables are the JSON that they look like")
    func literals() throws {
        let (text, count, ratio, isOn, none) = ("a\"b", 3, 0.5, true, String?.none)
        let value: JSONValue = [
            "null": nil, "yes": true, "int": -1, "double": 1.5, "string": "Hi \(count)", "array": [1, "a", nil, [:], []],
            "variables": [JSONValue(text), JSONValue(count), JSONValue(ratio), JSONValue(isOn), JSONValue(none)],
            "more": JSONValue(["a": JSONValue([JSONValue(text.prefix(1))])]), "twice": 1, "twice": 2,
        ]
        let json =
            #"{"array":[1,"a",null,{},[]],"double":1.5,"int":-1,"more":{"a":["a"]},"null":null,"string":"Hi 3","twice":2,"#
            + #""variables":["a\"b",3,0.5,true,null],"yes":true}"#
        #expect(value.description == json)
        #expect(try written(value) == json)
        #expect(try sent(.json(value)) == json)
        #expect(try read(json) == value)
    }

    @Test(
        "What is read is written with the same bytes, but for white space and the order of keys",
        arguments: [
            "null", "true", "false", "0", "-7", "9007199254740993", "-9223372036854775808", "9223372036854775807", "0.1", "-2.5", "1e+100",
            "5e-324", #""""#, #""é \"\\\n\r\t / 😀 \u0001\u001f""#, "[]", "{}",
            #"{"a":[1,{"b":null}],"snake_case":"x","ä":{"":[[]]}}"#,
        ])
    func roundTrip(text: String) throws {
        let value = try read(text)
        #expect(value.description == text)
        #expect(try written(value) == text)
        let spaced = text.replacingOccurrences(of: ",", with: " ,\n\t").replacingOccurrences(of: "[", with: " [ ")
        #expect(try read(spaced) == value)
    }

    @Test(
        "A whole number that an Int holds is one, however it is written", arguments: ["9007199254740992.0", "-9223372036854775808", "1E2"])
    func wholeNumber(text: String) throws {
        let value = try read(text)
        #expect(value.int != nil && value == JSONValue(value.int))
    }

    @Test(
        "Numbers are those of JSONDecoder: whole ones are exact, and 1.0 is 1",
        arguments: [
            ("1.0", "1"), ("1e3", "1000"), ("-0.0", "0"), ("100000000000000000000", "1e+20"), ("1e25", "1e+25"),
            ("1.5e300", "1.5e+300"),
            ("0.30000000000000004", "0.30000000000000004"),
        ])
    func numbers(text: String, written: String) throws {
        let value = try read(text)
        #expect(value.description == written)
        #expect(value.double == Double(text))
        #expect(value.int == (try? JSONDecoder().decode(Int.self, from: Data(text.utf8))))
    }

    @Test("A fraction is the nearest Double, however large it is", arguments: ["9007199254740993.5", "-9007199254740993.25", "0.1"])
    func fraction(text: String) throws {
        #expect(try read(text).double == Double(text))
    }

    @Test(
        "An integer that neither an Int nor a Double holds exactly is an error with its place, and never another number",
        arguments: [
            ("18446744073709551615", false), ("18446744073709551616", true), ("9223372036854775808", true), ("9223372036854775809", false),
            ("-9223372036854775809", false), ("123456789012345678901234567890", false), ("1e400", false),
        ])
    func misfit(text: String, isHeld: Bool) throws {
        do {
            let value = try read(#"{"a":[\#(text)]}"#)
            #expect(isHeld && value["a"]?[0]?.double.map { String(format: "%.0f", $0) } == text)
        } catch let DecodingError.dataCorrupted(context) {
            #expect(!isHeld && (context.codingPath.map(\.stringValue).first == "a" || text == "1e400"), "\(context)")
        }
    }

    @Test(
        "Values are equal, and have the same hash, if they are the same JSON",
        arguments: [
            ("[1]", "[1.0]", true), (#"{"a":1,"b":[2]}"#, #"{"b":[2],"a":1}"#, true), ("9007199254740992", "9007199254740993", false),
            ("1", "true", false), ("0", "null", false), (#""1""#, "1", false),
            ("[1,2]", "[2,1]", false), ("{}", "[]", false), (#"{"a":null}"#, "{}", false), ("1e20", "100000000000000000000", true),
        ] as [(String, String, Bool)])
    func equality(first: String, second: String, areEqual: Bool) throws {
        let (first, second) = (try read(first), try read(second))
        #expect((first == second) == areEqual)
        #expect(Set([first, second]).count == (areEqual ? 1 : 2))
    }

    @Test("A whole number is an int however it is made, and a double made by hand is another value, written alike")
    func wholeNumbersByConstruction() throws {
        let literal: JSONValue = 1.0
        for value in try [literal, JSONValue(1.0), JSONValue(1), read("1.0"), read("10e-1"), JSONValue(encoding: 1.0)] {
            #expect(value == .int(1) && Set([value, 1]).count == 1)
        }
        #expect(JSONValue.double(1) != 1 && JSONValue.double(1).int == 1 && JSONValue.double(1).description == "1")
        #expect(JSONValue(0x1p62) == .int(1 << 62) && JSONValue.double(0x1p62).description == "4611686018427387904")
        for number in [0.5, 0x1p63, -0x1.8p70, .infinity] { #expect(JSONValue(number) == .double(number)) }
        #expect(JSONValue(-0x1p63) == .int(.min) && JSONValue(Double.nan) != JSONValue(Double.nan))
    }

    @Test("What a value has not is nil, and nothing traps")
    func reading() throws {
        let value = try read(#"{"items":[{"id":1,"name":"a","isNew":false,"price":2.5,"gone":null}],"big":18446744073709551616}"#)
        let item = value["items"]?[0]
        #expect(item?["id"]?.int == 1 && item?["id"]?.double == 1 && item?["price"]?.double == 2.5 && item?["price"]?.int == nil)
        #expect(item?["name"]?.string == "a" && item?["isNew"]?.bool == false && item?["gone"]?.isNull == true)
        #expect(item?["id"]?.bool == nil && item?["id"]?.string == nil && item?["name"]?.double == nil && item?["isNew"]?.int == nil)
        #expect(value["big"]?.int == nil && value["big"]?.double == 0x1p64)
        #expect(value["none"] == nil && value[0] == nil && value["items"]?["a"] == nil)
        #expect([-1, 1, .max, .min].allSatisfy { value["items"]?[$0] == nil })
        #expect(value["items"]?.array?.count == 1 && value.object?.count == 2 && value.array == nil && value["big"]?.object == nil)
        #expect(!value.isNull)
    }

    @Test("A model may have a member of any shape, and no strategy changes its keys")
    func members() throws {
        struct Event: Codable, Equatable { let eventName: String, payload: JSONValue, extra: JSONValue? }
        let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
        (encoder.keyEncodingStrategy, decoder.keyDecodingStrategy) = (.convertToSnakeCase, .convertFromSnakeCase)
        let text = #"{"event_name":"a","payload":{"user_id":1,"isOn":[true]},"extra":null}"#
        let event = try decoder.decode(Event.self, from: Data(text.utf8))
        #expect(event == Event(eventName: "a", payload: ["user_id": 1, "isOn": [true]], extra: nil))
        #expect(try decoder.decode(Event.self, from: encoder.encode(event)) == event)
    }

    @Test("Other formats can have it, too")
    func propertyList() throws {
        let value: JSONValue = ["a": [1, 2.5, "x", true], "b": [:]]
        #expect(try PropertyListDecoder().decode(JSONValue.self, from: PropertyListEncoder().encode(value)) == value)
    }

    @Test("A number that is not finite is not sent, and the error says so", arguments: [Double.nan, .infinity, -.infinity])
    func notFinite(number: Double) throws {
        let value: JSONValue = ["a": [JSONValue(number)]]
        let error = try #require(throws: APIError.self) { try sent(.json(value)) }
        #expect(error.description.contains(" its body of type JSONValue cannot be encoded as JSON ("), "\(error)")
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(value) }
    }

    @Test("JSON that is nested too deeply is an error, also on a small stack", arguments: ["[", #"{"a":"#])
    func depth(start: String) {
        let results = Log<String>()
        onSmallStack {
            for count in [64, 65, 512, 1_000, 10_000] {
                let end = String(repeating: start == "[" ? "]" : "}", count: count)
                let text = String(repeating: start, count: count) + "1" + end
                do {
                    let value = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
                    results.append("\(try JSONEncoder().encode(value) == Data(text.utf8))")
                } catch let DecodingError.dataCorrupted(context) {
                    results.append(context.codingPath.isEmpty ? "too deep for the decoder" : context.debugDescription)
                } catch { results.append("\(error)") }
            }
        }
        let tooDeep = "it is nested more than 64 levels deep"
        #expect(results.entries == ["true", tooDeep, tooDeep, "too deep for the decoder", "too deep for the decoder"])
    }

    @Test("It meets Codable: a struct becomes a value, and a value a struct")
    func structs() throws {
        struct Item: Codable, Equatable { let id: Int, tags: [String], at: Date }
        let item = Item(id: 1, tags: ["a"], at: Date(timeIntervalSince1970: 0))
        let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
        (encoder.dateEncodingStrategy, decoder.dateDecodingStrategy) = (.iso8601, .iso8601)
        let value = try JSONValue(encoding: item, encoder: encoder)
        #expect(value == ["id": 1, "tags": ["a"], "at": "1970-01-01T00:00:00Z"])
        #expect(try value.decode(Item.self, by: decoder) == item)
        #expect(throws: DecodingError.self) { try value.decode([Item].self) }
        #expect(throws: EncodingError.self) { try JSONValue(encoding: UInt64.max) }
    }

    @Test("A switch has a case for each kind of JSON")
    func kinds() throws {
        let kinds = try read(#"[null,true,1,1.5,"a",[],{}]"#).array?.map { value in
            switch value {
            case .null: "null"
            case .bool(let value): "\(value)"
            case .int(let value): "\(value)"
            case .double(let value): "\(value)"
            case .string(let value): value
            case .array(let elements): "\(elements)"
            case .object(let members): "\(members)"
            }
        }
        #expect(kinds == ["null", "true", "1", "1.5", "a", "[]", "[:]"])
    }

    @Test("Random values read back as they were written", arguments: [UInt64.random(in: .min ... .max), 1, 2])
    func random(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<rounds(200) {
            let value = Self.value(4, &random)
            #expect(try read(value.description) == value, "seed \(seed): \(value)")
            #expect(try read(written(value)) == value, "seed \(seed): \(value)")
            // The system's own reader takes it for the same.
            let system = try JSONSerialization.jsonObject(with: Data(value.description.utf8), options: .fragmentsAllowed)
            #expect(JSONSerialization.isValidJSONObject([system]), "seed \(seed): \(value)")
        }
    }

    private static func value(_ depth: Int, _ random: inout SeededGenerator) -> JSONValue {
        switch Int.random(in: 0...(depth > 0 ? 8 : 6), using: &random) {
        case 0: nil
        case 1: JSONValue(Bool.random(using: &random))
        case 2, 3: JSONValue(Int.random(in: .min ... .max, using: &random))
        case 4: JSONValue(Double(bitPattern: .random(in: 0...0x7FEF_FFFF_FFFF_FFFF, using: &random)))
        case 5, 6: JSONValue(random.text())
        case 7: JSONValue((0..<Int.random(in: 0...3, using: &random)).map { _ in value(depth - 1, &random) })
        default:
            JSONValue(
                Dictionary((0..<Int.random(in: 0...3, using: &random)).map { _ in (random.text(), value(depth - 1, &random)) }) { $1 })
        }
    }

    @Test("It is the value of a response, and reads the body of an error")
    func responses() async throws {
        let answers = Answers(.status(200, body: #"{"login":"octocat"}"#), .status(422, body: #"{"errors":[{"field":"title"}]}"#))
        let endpoint = Endpoint<JSONValue>(.post, "/user", body: .json(["a": 1, "b": "x"]))
        #expect(try await answers.provider().request(endpoint).value["login"]?.string == "octocat")
        let error = try await #require(throws: APIError.self) { try await answers.provider().request(endpoint).value }
        #expect(try error.response?.decode(JSONValue.self)["errors"]?[0]?["field"] == "title")
        #expect(answers.requests.allSatisfy { $0.bodyData == Data(#"{"a":1,"b":"x"}"#.utf8) && $0.headers["Accept"] == "application/json" })
    }
}
