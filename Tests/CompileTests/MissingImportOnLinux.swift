import Foundation

func send(_ request: URLRequest) {}  // error: cannot find type 'URLRequest' in scope
