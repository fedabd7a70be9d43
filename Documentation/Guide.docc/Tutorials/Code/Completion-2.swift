import APIProvider

struct Completion: APIRequest {
    let prompt: String

    var endpoint: Endpoint<ServerSentEvents> {
        Endpoint(
            .post, "/v1/chat/completions", body: .json(["prompt": prompt]),
            timeoutInterval: 30)
    }
}

/// A piece of the answer.
nonisolated struct Delta: Decodable {
    struct ToolCall: Decodable {
        let index: Int
        let name: String?
        let arguments: String?
    }

    let text: String?
    let toolCalls: [ToolCall]?

    enum CodingKeys: String, CodingKey {
        case text
        case toolCalls = "tool_calls"
    }
}
