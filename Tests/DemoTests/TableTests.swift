import Testing

@testable import github_demo

@Suite("The tables of github-demo")
struct TableTests {
    private let table = Table(header: ["NAME", "STARS", "WORDS"], [["한글", "1", "가나다라마바사"], ["plain", "20", "abc"], ["nap", "3", ""]])

    @Test("Columns stay aligned with letters that are two columns wide")
    func wide() {
        let expected = """
            NAME   STARS  WORDS
            한글   1      가나다라마바사
            plain  20     abc
            nap    3
            """
        #expect(table.text(for: Output(width: nil, hasStyles: false)) == expected)
    }

    @Test("In a terminal no line is wider than that, and none ends within a letter", arguments: 1...30)
    func cut(width: Int) {
        let lines = table.text(for: Output(width: width, hasStyles: false)).split(separator: "\n").map(String.init)
        #expect(lines.allSatisfy { $0.columns <= width })
    }

    @Test("What is cut ends with an ellipsis")
    func ellipsis() {
        #expect("가나다".cut(to: 6) == "가나다")
        #expect("가나다".cut(to: 5) == "가나…")
        #expect("가나다".cut(to: 4) == "가…")
        #expect("abc".cut(to: 2) == "a…")
    }

    @Test("The header alone has a style, and only where there are styles")
    func style() {
        #expect(table.text(for: Output(width: 4, hasStyles: true)).hasPrefix("\u{1B}[1mNAM…\u{1B}[0m\n한…\n"))
        #expect(!table.text(for: Output(width: 4, hasStyles: false)).contains("\u{1B}"))
    }

    @Test(
        "The widths of letters (Unicode UAX #11, and emoji as terminals show them)",
        arguments: [
            ("abc", 3), ("한글", 4), ("日本", 4), ("ｆ", 2), ("é", 1), ("e\u{301}", 1), ("🌱", 2), ("👩‍👩‍👧", 2), ("⚓️", 2),
            ("\u{200B}", 0), ("…", 1), ("กำ", 2), ("กิน", 2), ("नि", 2), ("क्षि", 3), ("ｶﾞ", 2), ("so\u{AD}ft", 5), ("한", 2),
            ("\u{1112}\u{1161}\u{11AB}", 2), ("か\u{3099}", 2), ("🇩🇪", 2), ("1️⃣", 2), ("👍🏽", 2),
        ])
    func columns(text: String, columns: Int) {
        #expect(text.columns == columns)
    }

    @Test("What a server sends can neither steer the terminal nor turn the text around")
    func printable() {
        #expect("a\u{1B}[2Jb\nc\u{9B}d\u{2028}e\u{202E}f".printable == "a [2Jb c d ef")
        #expect("👩‍👩‍👧 한글".printable == "👩‍👩‍👧 한글")
        #expect(Table([["\u{1B}[31mred", "x\r\ny"]]).text(for: Output(width: nil, hasStyles: false)) == " [31mred  x  y")
    }
}
