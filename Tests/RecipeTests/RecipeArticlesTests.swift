import TestSupport
import Testing

@Suite("The recipes' articles")
struct RecipeArticlesTests {
    @Test(
        "An article's code is that of its recipe",
        arguments: [
            "FixturesByDTO", "RequestsThatBuildAndParseThemselves", "ASeamInsteadOfAStack", "WhatWasAskedFor",
            "AnswersThatDependOnTheRequest",
        ].enumerated().map { ($0 + 1, $1) })
    func code(number: Int, name: String) throws {
        let recipe = try PackageFile("Tests/RecipeTests/Recipe\(number)\(name)Tests.swift")
        let blocks = try PackageFile("Sources/MockNetwork/MockNetwork.docc/\(name).md").swiftBlocks
        #expect(!blocks.isEmpty)
        for block in blocks { #expect(recipe.contains(code: block), "\(block)") }
    }
}
