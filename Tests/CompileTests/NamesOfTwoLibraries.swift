// expect: errors at their lines
// The module has the name of its protocol, so that a name cannot be looked up in it in the old way.
import APIProvider
import Foundation

func headers() -> APIProvider.HTTPHeaders { [:] }  // error: 'HTTPHeaders' is not a member type of protocol 'APIProvider.APIProvider'
