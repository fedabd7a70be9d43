public import APIProvider
import Dispatch
public import Foundation
public import MiniRx

/// Writes each request and its response to a HAR 1.2 file.
///
/// ``MockURLProtocol/replay(har:forAnyHost:)`` answers requests from the file, and the developer tools of browsers open it.
///
/// ```swift
/// let provider = DefaultAPIProvider(
///     baseURL: api, middlewares: [RecordingMiddleware(to: file)])
/// ```
///
/// The file is written when a request ends, before the subscriber gets its value or its error. Entries are in the order in which the
/// requests began, as the format prefers. A failure is recorded with the status 0. A disposed request is not recorded. As the last
/// middleware, it records each attempt of a retry.
///
/// The recording has what a middleware sees. That is the request before redirects and the last response, without headers that the session
/// adds. A body that is downloaded to a file is missing, and a comment in the entry says so. Bodies that are not UTF-8 are in Base64.
///
/// Each middleware starts a new recording: the first request that ends replaces an existing file. The whole file is replaced each time, so
/// it is valid at every moment. A recording of n bytes takes n bytes of memory, and n bytes are written for each request. Requests that end
/// during a write share the next one. Do not give one file to two middlewares: they overwrite each other.
///
/// Only its owner can read a new file (mode 0600). An existing file keeps its mode. Only regular files, and links to them, are replaced. If
/// the file cannot be written, no request fails, and `onFailure` gets the first error. The folder must exist. If the process is killed
/// during a write, it leaves a hidden file there, whose name ends in `.download`.
public final class RecordingMiddleware: Middleware {
    private let file: RecordingFile
    /// The names whose values stay, in lower case. `nil` keeps everything.
    private let names: Set<String>?

    /// Creates a middleware that records to a file.
    ///
    /// - Parameters:
    ///   - file: The file to write. Its name should end in `.har`.
    ///   - redaction: What is kept: `.standard`, or everything.
    ///   - names: What `.standard` keeps beside that, in upper or lower case: headers, query items, fields and cookies by their names, and
    ///     bodies by their media types, such as `text/csv`.
    ///   - onFailure: Gets the first error of writing the file, on the thread of the request. By default, it is printed to standard error.
    public init(
        to file: URL, redacting redaction: Redaction = .standard, keeping names: [String] = [],
        onFailure: (@Sendable (any Error) -> Void)? = nil
    ) {
        self.file = RecordingFile(
            file, onFailure: onFailure ?? { StandardError.print("RecordingMiddleware: \($0.localizedDescription)") })
        self.names = redaction.showsEverything ? nil : Set(names.map { $0.lowercased() })
    }

    /// Returns the response to `request`, unchanged, after it is in the file. The file is written on the thread of the response.
    ///
    /// A streamed response is written when it ends or its reader leaves, with the data that has arrived by then.
    public func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
        .deferred { [file, names] in
            let number = file.makeNumber()
            let (date, start) = (Date(), DispatchTime.now())
            let record: @Sendable (Result<APIResponse, any Error>) -> Void = { result in
                let milliseconds = Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1e6
                file.add(
                    HAR.Entry(request, result, started: date, milliseconds: milliseconds, keeping: names), number: number)
            }
            return next(request).do(
                onSuccess: { response in
                    guard let stream = response.bodyStream?.withLock({ $0?.buffer }) else { return record(.success(response)) }
                    stream.record { record(.success(APIResponse(request: response.request, response: response.response, data: $0))) }
                },
                onError: { record(.failure($0)) })
        }
    }
}
