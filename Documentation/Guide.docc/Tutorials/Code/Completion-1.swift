import APIProvider

struct Completion: APIRequest {
    let prompt: String

    var endpoint: Endpoint<ServerSentEvents> {
        Endpoint(
            .post, "/v1/chat/completions", body: .json(["prompt": prompt]),
            timeoutInterval: 30)
    }
}
