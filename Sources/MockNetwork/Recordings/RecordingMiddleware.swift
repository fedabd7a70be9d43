public import APIProvider
import Dispatch
public import Foundation
public import MiniRx

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Writes each request that passes, and what came of it, to a HAR 1.2 file, which ``MockURLProtocol/replay(har:forAnyHost:)`` answers from
/// and the developer tools of browsers open.
///
/// ```swift
/// let provider = DefaultAPIProvider(baseURL: api, middlewares: [RecordingMiddleware(to: file)])
/// ```
///
/// The file is written when a request ends, before its value or its error goes on: whoever has that finds it in the file. Entries stand in
/// the order in which the requests began, as the format prefers. A failure is recorded with the status 0, a disposed request not at all. As
/// the last middleware it records what is sent, each attempt of its own.
///
/// What is recorded is what a middleware sees: the request before redirects with the last response; no body where it is downloaded to a
/// file or is sent as a stream, which a comment says; no headers that the session adds. Bodies are whole, and those that are no UTF-8 in
/// Base64.
///
/// The first request that ends replaces a file that is there: each middleware records anew. The file is replaced whole at each writing, so
/// that it is valid at every moment; a recording of n bytes costs n bytes of memory, and that much writing for each request. Those that end
/// during a writing share the next. Two middlewares with one file overwrite each other.
///
/// Only its owner can read a new file (mode 0600); an old file keeps its mode. Anything but a regular file, or a link to one, is not
/// replaced. A file that cannot be written harms no request: the middleware tells of the first failure. The folder must exist. A process
/// that is killed while it writes leaves a hidden file there, whose name ends in `.download`; remove it yourself.
public final class RecordingMiddleware: Middleware {
    private let file: RecordingFile
    private let redaction: Redaction

    /// A middleware that records.
    ///
    /// - Parameters:
    ///   - file: Where to. Its name should end in `.har`.
    ///   - redaction: What to leave out.
    ///   - onFailure: Gets the first error of writing the file, on the thread of the request. By default it goes to standard error.
    public init(to file: URL, redacting redaction: Redaction = .secrets, onFailure: (@Sendable (any Error) -> Void)? = nil) {
        self.file = RecordingFile(
            file, onFailure: onFailure ?? { StandardError.print("RecordingMiddleware: \($0.localizedDescription)") })
        self.redaction = redaction
    }

    /// The response to `request`, unchanged, once it is in the file. The file is written on the thread that the response comes on.
    public func intercept(
        _ request: URLRequest, options: RequestOptions, next: @escaping @Sendable (URLRequest) -> Single<APIResponse>
    ) -> Single<APIResponse> {
        .deferred { [file, redaction] in
            let number = file.makeNumber()
            let (date, start) = (Date(), DispatchTime.now())
            let record: @Sendable (Result<APIResponse, any Error>) -> Void = { result in
                let milliseconds = Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1e6
                file.add(
                    HAR.Entry(request, result, started: date, milliseconds: milliseconds, redacting: redaction), number: number)
            }
            return next(request).do(onSuccess: { record(.success($0)) }, onError: { record(.failure($0)) })
        }
    }
}
