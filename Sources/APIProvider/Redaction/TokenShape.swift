/// The tokens that are known by their shape, wherever they stand.
enum TokenShape {
    /// Beginnings of tokens, with six more characters at least.
    private static let beginnings = """
        ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- glrt- gldt- glptt- xoxa- xoxb- xoxc- xoxd- xoxe- xoxp- xoxr- xoxs- xapp- whsec_ shpat_
        shpca_ shppa_ shpss_ dop_v1_ doo_v1_ dor_v1_ dckr_pat_ sq0atp- sq0csp- PMAK-
        """
    /// The same for beginnings that other words have, too: with twenty more characters.
    private static let commonBeginnings = """
        AGE-SECRET-KEY- AIza ATATT3 CFPAT- GOCSPX- LTAI SG. ZXlK dapi figd_ glc_ glsa_ gsk_ hf_ hvb. hvs. lin_api_ npm_ ntn_ nvapi- ops_ pplx-
        pscale_ pul- pypi- r8_ rubygems_ sbp_ sntrys_ sntryu_ tskey- xai- xkeysib- ya29.
        """

    private struct Shape: Sendable {
        let beginning: [UInt8]
        let fits: @Sendable (_ rest: ArraySlice<UInt8>) -> Bool
    }

    /// The shapes by their first byte.
    private static let shapes: [[Shape]] = {
        var shapes = [[Shape]](repeating: [], count: 256)
        func add(_ beginnings: String, _ fits: @escaping @Sendable (_ rest: ArraySlice<UInt8>) -> Bool) {
            for text in beginnings.split(whereSeparator: \.isWhitespace) {
                shapes[Int(text.utf8.first ?? 0)].append(Shape(beginning: Array(text.utf8), fits: fits))
            }
        }
        add(beginnings) { rest in rest.count >= 6 }
        add(commonBeginnings) { rest in rest.count >= 20 }
        // A JSON Web Token (RFC 7519), which has dots.
        add("eyJ") { rest in rest.count >= 12 && rest.contains(UInt8(ascii: ".")) }
        add("sk_ sk- rk_") { rest in rest.count >= 20 || rest.count >= 6 && rest.contains(where: \.isDigit) }
        add("AKIA ASIA") { rest in rest.count >= 12 && rest.prefix(16).allSatisfy { $0.isDigit || $0.isUppercaseLetter } }
        return shapes
    }()

    /// Whether `text` begins with a token.
    ///
    /// - Parameter isCut: Whether it may go on.
    static func matches(_ text: ArraySlice<UInt8>, isCut: Bool) -> Bool {
        shapes[Int(text.first ?? 0)].contains { shape in
            text.starts(with: shape.beginning) && (isCut || shape.fits(text.dropFirst(shape.beginning.count)))
        }
    }
}
