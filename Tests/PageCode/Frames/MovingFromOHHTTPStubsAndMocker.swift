import XCTest

private let feed = StreamFeed()
private let (fileID, filePath, line) = ("MyTests/UserTests.swift", "MyTests/UserTests.swift", 7)
