import APIProvider
public import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension StubResponse {
    /// A file served whole or in part, by each request's `Range` and `If-Range` (RFC 9110, section 14).
    ///
    /// ```swift
    /// let video = StubResponse.ranges(of: data, eTag: "\"v1\"")
    /// let lost = URLError(.networkConnectionLost)
    /// MockURLProtocol.stub(
    ///     .get, "/video.mp4",
    ///     respond: .sequence([video.breakingOff(with: lost, after: 1000), video]))
    /// ```
    ///
    /// The status is 200, 206 or 416. A GET with several ranges gets the whole.
    ///
    /// - Parameters:
    ///   - data: The whole file.
    ///   - eTag: The entity tag with the quotation marks. If `If-Range` has another tag or a weak one, the whole file is sent.
    public static func ranges(of data: Data, eTag: String) -> StubResponse {
        StubResponse { request in
            var (status, body) = (200, data)
            var headers: HTTPHeaders = ["ETag": eTag, "Accept-Ranges": "bytes"]
            if let range = request.range(of: data.count, eTag: eTag) {
                (status, body) = range.isEmpty ? (416, Data()) : (206, data.dropFirst(range.lowerBound).prefix(range.count))
                headers["Content-Range"] = "bytes \(range.isEmpty ? "*" : "\(range.lowerBound)-\(range.upperBound - 1)")/\(data.count)"
            }
            headers["Content-Length"] = "\(body.count)"
            return .response(try .mock(status, headers: headers.dictionary, for: request.url), steps(of: Data(body)), to: request)
        }
    }
}

extension ReceivedRequest {
    /// The requested part, empty if out of bounds; `nil` for the whole.
    fileprivate func range(of count: Int, eTag: String) -> Range<Int>? {
        let isSameVersion = headers["If-Range"].map { $0.hasSameBytes(as: eTag) && !eTag.hasPrefix("W/") } ?? true
        return method == .get && isSameVersion ? headers["Range"]?.byteRange(of: count) : nil
    }
}
