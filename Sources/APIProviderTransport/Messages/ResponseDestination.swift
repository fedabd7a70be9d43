package import Foundation

/// The place for the body of a successful response. Other bodies go into memory.
public enum ResponseDestination: Sendable, Hashable {
    /// The body is the response's ``APIResponse/data``.
    case memory
    /// The body is in a file, and ``APIResponse/data`` is empty.
    case file
    /// The body is streamed to one reader, and ``APIResponse/data`` is empty.
    case stream
}

/// A destination with what the transport needs to know of it.
package enum BodyDestination: Sendable {
    case memory
    /// A file, what keeps the file in which the body has come, and the file that goes on where an earlier attempt stopped.
    case file(URL, Download? = nil, resuming: PartialFile? = nil)
    /// The body is streamed to a reader. A body of another media type than `expected` may be an error: it goes into memory if it has an
    /// end.
    case stream(expected: String? = nil)

    package var isMemory: Bool { if case .memory = self { true } else { false } }

    package var isStream: Bool { if case .stream = self { true } else { false } }

    package var file: URL? { if case .file(let file, _, _) = self { file } else { nil } }

    package var download: Download? { if case .file(_, let download, _) = self { download } else { nil } }
}

extension PreparedRequest {
    /// The place for the body of a successful response. A response whose body is not in memory can have one reader only, so it cannot be
    /// stored or shared.
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
