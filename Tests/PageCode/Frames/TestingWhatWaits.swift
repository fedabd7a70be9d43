nonisolated private let request = Single.just("")
