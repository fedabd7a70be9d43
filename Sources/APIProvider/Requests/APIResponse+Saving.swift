import Foundation

extension APIResponse {
    /// Restores the downloaded file if a middleware replaced the response without a body.
    func restoringFile(of download: Download) -> APIResponse {
        guard let file = download.takeFile(), self.file == nil, data.isEmpty else { return self }
        var response = self
        response.file = file
        return response
    }

    /// Saves the body at `destination`: the downloaded file, or a new one.
    func save(to destination: URL) throws {
        do {
            if let file { try file.moveToDestination() } else { try PartialFile.replace(destination, with: data) }
        } catch {
            throw APIError.transport(request, underlying: error)
        }
    }
}

extension Error {
    /// The error without a download's file. The file is removed with the last reference, and the app may keep the error.
    func releasingFile() -> any Error {
        (self as? APIError)?.mapResponse { response in
            var response = response
            response.file = nil
            return response
        } ?? self
    }
}
