package import Foundation

/// The place for a successful response's body. Other bodies go into memory.
public enum ResponseDestination: Sendable, Hashable {
    /// The body is the response's ``APIResponse/data``.
    case memory
    /// The body is in a file, and ``APIResponse/data`` is empty.
    case file
    /// The body is streamed to one reader, and ``APIResponse/data`` is empty.
    case stream
}

/// A destination with the details for the transport.
package enum BodyDestination: Sendable {
    case memory
    /// A file, the request's download, and the folder of a download that goes on.
    case file(URL, DownloadHandoff? = nil, KeptFolder? = nil)
    /// The body is streamed to a reader. A body of another media type than `expected` may be an error: a finite one goes into memory.
    case stream(expected: String? = nil)

    package var isMemory: Bool { if case .memory = self { true } else { false } }

    package var isStream: Bool { if case .stream = self { true } else { false } }

    package var file: URL? { if case .file(let file, _, _) = self { file } else { nil } }

    package var download: DownloadHandoff? { if case .file(_, let download, _) = self { download } else { nil } }
}

extension PreparedRequest {
    /// The place for a successful response's body. A body outside memory has only one reader, so the response cannot be stored or shared.
    public var destination: ResponseDestination {
        switch bodyDestination {
        case .memory: .memory
        case .file: .file
        case .stream: .stream
        }
    }

    package var bodyDestination: BodyDestination {
        get { options[DestinationKey.self] }
        set { options[DestinationKey.self] = newValue }
    }
}

private enum DestinationKey: BuiltInOptionKey { static var defaultValue: BodyDestination { .memory } }
