/// A picture, drawn once for each appearance.
struct Picture: Sendable {
    /// The path of its files from the package's root, without `.svg`.
    let path: String
    let draw: @Sendable (Palette) -> SVG

    /// What each of its files says, by path. DocC takes the one with `~dark` on dark pages.
    var files: [String: String] {
        ["\(path).svg": draw(.light).text, "\(path)~dark.svg": draw(.dark).text]
    }
}
