// expect: nothing
// flags: -default-isolation MainActor
import APIProvider
import Foundation

nonisolated struct User: Decodable { let login: String }
// swift-format-ignore: NeverForceUnwrap
nonisolated let gitHub = URL(string: "https://api.github.com")!
