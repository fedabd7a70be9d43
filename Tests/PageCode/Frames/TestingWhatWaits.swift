@MainActor private let banner = Reader()

@MainActor
private final class Reader {
    var text: String?
    let hiding = SerialDisposable()
}
