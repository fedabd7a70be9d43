import APIProvider
import Foundation
import MiniRx
import TestSupport

/// A response whose body comes in `chunks`.
func streamedResponse(
    _ chunks: [some Sequence<UInt8>], type: String? = nil, status: Int = 200, then error: (any Error)? = nil
) -> ByteStream {
    let buffer = StreamBuffer(transfer: Disposables.create())
    for chunk in chunks { buffer.append(Data(chunk)) }
    buffer.finish(error)
    return ByteStream(response(type: type, status: status, buffer))
}

func response(type: String? = nil, status: Int = 200, _ buffer: StreamBuffer) -> APIResponse {
    let request = PreparedRequest(.get, example)
    let head = APIResponse(to: request, status: status, headers: type.map { ["Content-Type": $0] } ?? [:]).response
    return APIResponse(request: request, response: head, stream: buffer)
}
