// A file that imports Alamofire, too, says which type it means: by an import of the type where a protocol has the name of the module.
import APIProvider
import Alamofire

import struct APIProvider.RetryPolicy

func middleware() -> RetryMiddleware { RetryMiddleware(RetryPolicy()) }
#if compiler(>=6.3)
func policy() -> APIProvider::RetryPolicy { APIProvider::RetryPolicy(maxAttempts: 2) }
#endif
func method() -> APIProviderTransport.HTTPMethod { .get }
func headers() -> APIProviderTransport.HTTPHeaders { ["Accept": "application/json"] }
func theirs(_ headers: Alamofire.HTTPHeaders) {}
func ambiguous(_ headers: HTTPHeaders) {}  // error: 'HTTPHeaders' is ambiguous for type lookup in this context
