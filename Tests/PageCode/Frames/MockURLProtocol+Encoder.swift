private struct CreateTask: APIRequest {
    let dueDate: Date
    var endpoint: Endpoint<Void> { Endpoint(.post, "/tasks", body: .json(["dueDate": dueDate])) }
}
