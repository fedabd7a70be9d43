// Literals of JSON, as people write them, where JSON is taken. None is ambiguous.
// flags: -swift-version 6
// flags: -swift-version 5
// flags: -swift-version 6 -default-isolation MainActor
import APIProvider
import APIProviderMocks
import Foundation

func bodies(_ text: String, _ n: Int, _ ratio: Double, _ isOn: Bool, _ name: String?, _ tags: [String], _ id: Int) -> [HTTPBody] {
    [
        .json(["a": 1, "b": ["x", nil, true]]), .json([:]), .json([]), .json(["a": 1]), .json([String]()), .json(["x"]), .json(nil),
        .json(["message": JSONValue(text), "code": JSONValue(n)]), .json(["a": text, "b": text]), .json(["a": n]), .json(tags),
        .json(["text": "Hi \(text)", "n": -1, "d": 1.5, "b": false, "o": ["a": [:], "b": []]]),
        .json([
            "ratio": JSONValue(ratio), "isOn": JSONValue(isOn), "name": JSONValue(name), "id": JSONValue(id),
            "tags": JSONValue(tags.map { JSONValue($0) }), "first": JSONValue(text.prefix(1)), "o": JSONValue(["a": JSONValue(text)]),
        ]),
        .json([1, "a", nil, ["b": 2]]), .json(["a": 1], encoder: JSONEncoder()), .json(JSONValue(text)),
        .multipart([MultipartPart(name: "a", json: ["a": 1, "b": "x"]), MultipartPart(name: "b", json: tags)]),
    ]
}

func variables(_ text: String, _ n: Int) {
    _ = HTTPBody.json(["a": text, "b": n])  // error: conflicting arguments to generic parameter 'Value' ('String' vs. 'Int')
    _ = HTTPBody.json(["a": JSONValue(text), "b": JSONValue(n)])
    let body: JSONValue = ["a": text]  // error: cannot convert value of type 'String' to expected dictionary value type 'JSONValue'
}

func variablesOfARequest(_ text: String, _ n: Int) {
    // error: failed to produce diagnostic for expression; please submit a bug report
    _ = Endpoint<Void>(.post, "/x", body: .json(["a": text, "b": n]))
}

func variablesOfStubs(_ text: String, _ n: Int) {
    _ = StubResponse.json(["a": text, "b": n])  // error: write JSONValue(text) for a variable, or pass a struct
    _ = StubResponse.json(["a": 1, "b": text])  // error: write JSONValue(text) for a variable, or pass a struct
    _ = StubResponse.json(["a": 1, "b": ["c": text]], statusCode: 422)  // error: write JSONValue(text) for a variable, or pass a struct
    _ = BodyMatcher.json(["a": text, "b": n])  // error: write JSONValue(text) for a variable, or pass a struct
    _ = BodyMatcher.json(["a": 1, "b": text])  // error: write JSONValue(text) for a variable, or pass a struct
    _ = BodyMatcher.json(containing: ["a": 1, "b": text])  // error: write JSONValue(text) for a variable, or pass a struct
    MockURLProtocol.stub(.get, "/x", respond: .json(["a": 1, "b": text]))  // error: write JSONValue(text) for a variable, or pass a struct
}

func answers(_ text: String, _ n: Int) -> [StubResponse] {
    [
        .json(["a": 1, "b": ["x", nil, true]]), .json([:]), .json([]), .json(["a": 1]), .json([String]()), .json(nil),
        .json(["message": JSONValue(text), "code": JSONValue(n)], statusCode: 422), .json(["a": text]), .json(text: "{}"),
    ]
}

func matchers(_ text: String, _ n: Int) -> [BodyMatcher] {
    [
        .json(["a": 1, "b": ["x", nil, true]]), .json([:]), .json([]), .json(["a": 1]), .json([String]()), .json(nil),
        .json(["message": JSONValue(text), "code": JSONValue(n)]), .json(["a": text]), .json(text: "{}"),
        .json(containing: ["a": 1, "b": ["x", nil, true]]), .json(containing: [:]), .json(containing: ["a": text]),
        .json(containing: ["a": JSONValue(text), "b": 1]), .multipart(containing: ["a": .json(["a": 1, "b": "x"]), "b": .text(text)]),
    ]
}

func reading(_ value: JSONValue) -> (String?, Int?, Double?, Bool?) {
    var members: [String: JSONValue] = ["a": 1]
    members["b"] = "x"
    let items: [JSONValue] = value["items"]?.array ?? []
    _ = JSONValue(members) == ["a": 1, "b": "x"]
    if case .object(let more) = value, case .int(let count)? = more["count"] { members["c"] = .int(count + 1) }
    return (items.first?["name"]?.string, value["items"]?[0]?["id"]?.int, value["price"]?.double, value["isOn"]?.bool)
}

func stubs(_ text: String) {
    MockURLProtocol.stub(.post, "/x", body: .json(["title": "", "labels": [], "n": 1]), respond: .json(["message": "m", "code": 22]))
    _ = Endpoint<JSONValue>(.post, "/x", body: .json(["text": JSONValue(text), "n": 1]))
    _ = Endpoint<Void>(.post, "/x", body: .json(["text": JSONValue(text), "n": 1]))
}
