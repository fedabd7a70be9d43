import Foundation

extension APIResponse {
    /// The response with the file of `download`, which is missing if a middleware has made the response anew. If the new response has a
    /// body of its own, that body is saved, and not the file.
    func restoringFile(of download: Download?) -> APIResponse {
        guard let file = download?.take(), self.file == nil, data.isEmpty else { return self }
        var response = self
        response.file = file
        return response
    }

    /// Puts the body into `destination`: the file in which it has come, or a new one.
    func save(to destination: URL) throws {
        do {
            if let file { try file.moveToDestination() } else { try PartialFile.replace(destination, with: data) }
        } catch {
            throw APIError.transport(request, underlying: error)
        }
    }
}

extension Error {
    /// The error without the file of a download, which goes with its last reference: the app may keep the error.
    func releasingFile() -> any Error {
        (self as? APIError)?.mapResponse { response in
            var response = response
            response.file = nil
            return response
        } ?? self
    }
}
