private let feed = StreamFeed()
private let (fileID, line) = ("MyTests/UserTests.swift", 7)
