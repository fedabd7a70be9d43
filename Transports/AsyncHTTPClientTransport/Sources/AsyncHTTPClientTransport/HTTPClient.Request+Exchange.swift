@_spi(Transports) import APIProviderTransport
import AsyncHTTPClient
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

extension HTTPClient.Request {
    /// Creates the client's request of an exchange.
    ///
    /// - Parameter acceptsGzip: Whether the client is known to decompress.
    init(_ exchange: Exchange, acceptsGzip: Bool) throws {
        let request = exchange.request
        var headers = NIOHTTP1.HTTPHeaders()
        for (name, value) in request.headers where name.lowercased() != "content-length" { headers.add(name: name, value: value) }
        // A request has one (RFC 9112, section 3.2), and the client names no socket there.
        if request.url.scheme?.lowercased().hasSuffix("+unix") == true, !headers.contains(name: "Host") {
            headers.add(name: "Host", value: "localhost")
        }
        if !headers.contains(name: "Accept") { headers.add(name: "Accept", value: "*/*") }
        // Some servers send a "deflate" without its zlib header, which the client does not read.
        if acceptsGzip, !headers.contains(name: "Accept-Encoding") { headers.add(name: "Accept-Encoding", value: "gzip") }
        try self.init(
            url: request.url, method: NIOHTTP1.HTTPMethod(rawValue: request.method.rawValue), headers: headers,
            body: request.body.map { try HTTPClient.Body($0) })
    }
}

extension HTTPClient.Body {
    /// A small body as a whole, and a large one in chunks, as fast as the server reads it.
    fileprivate init(_ body: RequestBody) throws {
        guard body.count <= Upload.chunkSize else {
            self = .stream(contentLength: Int64(body.count)) { Upload(body: body, writer: $0).run() }
            return
        }
        var (reader, bytes) = (body.makeReader(), ByteBuffer())
        while let chunk = try reader.read(upToCount: Upload.chunkSize) { bytes.writeData(chunk) }
        self = .byteBuffer(bytes)
    }
}
