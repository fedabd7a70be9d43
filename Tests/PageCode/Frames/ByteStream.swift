private let file = FileHandle.standardOutput
