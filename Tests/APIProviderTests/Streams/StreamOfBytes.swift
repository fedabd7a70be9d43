import APIProvider
import Foundation
import MiniRx
import TestSupport

@testable import APIProviderTransport

/// A response whose body comes in `chunks`.
func streamedResponse(
    _ chunks: [some Sequence<UInt8>], type: String? = nil, status: Int = 200, maxElementSize: Int? = nil, then error: (any Error)? = nil
) -> ByteStream {
    let buffer = StreamBuffer(transfer: Disposables.create())
    for chunk in chunks { buffer.append(Data(chunk)) }
    buffer.finish(error)
    return ByteStream(response(type: type, status: status, maxElementSize: maxElementSize, buffer))
}

func response(type: String? = nil, status: Int = 200, maxElementSize: Int? = nil, _ buffer: StreamBuffer) -> APIResponse {
    var request = PreparedRequest(.get, example)
    if let maxElementSize { request.options.maxElementSize = maxElementSize }
    let head = APIResponse(to: request, statusCode: status, headers: type.map { ["Content-Type": $0] } ?? [:]).httpResponse
    return APIResponse(request: request, httpResponse: head, stream: buffer)
}
