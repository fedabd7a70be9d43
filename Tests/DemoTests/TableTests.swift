import Testing

@testable import github_demo

@Suite("The tables of github-demo")
struct TableTests {
    private let table = Table(
        [["NAME", "STARS", "WORDS"], ["한글", "1", "가나다라마바사"], ["plain", "20", "abc"], ["nap", "3", ""]], hasHeader: true)

    @Test("Columns are aligned, without spaces at the end")
    func aligned() {
        let expected = """
            NAME   STARS  WORDS
            한글     1      가나다라마바사
            plain  20     abc
            nap    3
            """
        #expect(table.text(width: nil, bold: { $0 }) == expected)
    }

    @Test("In a terminal, a longer line ends with an ellipsis, and the header is bold")
    func cut() {
        #expect(table.text(width: 7, bold: { "<\($0)>" }) == "<NAME  …>\n한글    …\nplain …\nnap   …")
    }

    @Test("What a server sends can neither steer the terminal nor turn the text around")
    func printable() {
        #expect("a\u{1B}[2Jb\nc\u{9B}d\u{2028}e\u{202E}f".printable == "a [2Jb c d e f")
        #expect("👩‍👩‍👧 한글".printable == "👩‍👩‍👧 한글")
    }
}
