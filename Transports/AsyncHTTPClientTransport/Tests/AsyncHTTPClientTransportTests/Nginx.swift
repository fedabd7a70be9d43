import APIProvider
import AsyncHTTPClientTransport
import Foundation
import TestSupport

/// An nginx with compression, in a process of its own, which ends with this object.
final class Nginx: Sendable {
    static let text = String(repeating: "All work and no play makes Jack a dull boy. ", count: 1_000)
    private static let program = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/local/bin/nginx", "/opt/homebrew/bin/nginx"]
        .first(where: FileManager.default.isExecutableFile)

    static var isInstalled: Bool { program != nil }

    let url: URL
    private let folder = TemporaryFolder()
    private let process = Process()

    struct DoesNotStart: Error {}

    /// Returns one that answers.
    static func started() async throws -> Nginx {
        for _ in 0..<10 {
            // The port is free, unless somebody takes it before nginx does.
            let server = try await Server()
            try await server.stop()
            let nginx = try Nginx(url: server.url)
            let provider = DefaultAPIProvider(transport: AsyncHTTPClientTransport())
            while nginx.process.isRunning {
                if (try? await provider.request(Endpoint<Data>(.get, .url(nginx.url, "/text"))).value) != nil { return nginx }
            }
        }
        throw DoesNotStart()
    }

    private init(url: URL) throws {
        guard let program = Self.program else { throw DoesNotStart() }
        self.url = url
        try Data(Self.text.utf8).write(to: folder.url("text"))
        try Data().write(to: folder.url("empty"))
        let configuration = """
            daemon off; master_process off; error_log stderr; pid \(folder.url("pid").path);
            events {}
            http {
                access_log off; default_type text/plain; gzip on; gzip_min_length 0; gzip_types *;
                \(["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(folder.url("temp").path);" }.joined())
                server {
                    listen \(url.host ?? ""):\(url.port ?? 0); root \(folder.url("").path);
                    location /nothing { return 204; }
                    location /away { return 302 /text; }
                    location /busy { return 503; }
                }
            }
            """
        try Data(configuration.utf8).write(to: folder.url("nginx.conf"))
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = ["-p", folder.url("").path, "-c", folder.url("nginx.conf").path]
        try process.run()
    }

    // A SIGTERM may be blocked: a process inherits that from the thread that starts it.
    deinit { kill(process.processIdentifier, SIGKILL) }
}
