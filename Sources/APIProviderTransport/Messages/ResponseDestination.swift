package import Foundation

/// The place for the body of a successful response. Other bodies go into memory.
package enum ResponseDestination: Sendable {
    case memory
    /// A file, and the keeper of the files that come before one takes its place.
    case file(URL, Download? = nil)
    /// The body is streamed to a reader. A body of another media type than `expected` may be an error: it goes into memory if it has an
    /// end.
    case stream(expected: String? = nil)

    package var isMemory: Bool { if case .memory = self { true } else { false } }

    package var isStream: Bool { if case .stream = self { true } else { false } }

    package var download: Download? { if case .file(_, let download) = self { download } else { nil } }
}

extension PreparedRequest {
    /// The place for the body of a successful response.
    package var destination: ResponseDestination {
        get { options[DestinationKey.self] }
        set { options[DestinationKey.self] = newValue }
    }

    /// Whether the body of the response is collected in memory, so that several subscribers can share the response.
    package var isReceivedInMemory: Bool { destination.isMemory }

    /// Whether the response is streamed.
    package var streamsResponse: Bool { destination.isStream }
}

private enum DestinationKey: BuiltInOptionKey { static var defaultValue: ResponseDestination { .memory } }
