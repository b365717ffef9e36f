# cmake -DPROGRAM=FILE -DRANKS=N -P short_cases.cmake -- COMMAND...
#
# Has COMMAND run the short cases that PROGRAM lists for so many ranks, in one batch. Each record must say that the run has passed,
# or what the system lacks, and at least one that it has passed.
set(command "")
set(is_command FALSE)
foreach(number RANGE ${CMAKE_ARGC})
  if(is_command)
    list(APPEND command "${CMAKE_ARGV${number}}")
  elseif(CMAKE_ARGV${number} STREQUAL "--")
    set(is_command TRUE)
  endif()
endforeach()

execute_process(COMMAND "${PROGRAM}" --cases OUTPUT_VARIABLE cases COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "[" "<" cases "${cases}") # in a list of CMake, a bracket that is not closed hides what separates elements
string(REPLACE "]" ">" cases "${cases}")
string(REGEX MATCHALL "\"flags\":\"[^\n]*\"test_ranks\":<([0-9]+,)*${RANKS}[>,]" cases "${cases}")
list(TRANSFORM cases REPLACE "\"flags\":\"([^\"]*)\".*" "\\1")
list(LENGTH cases count)
list(JOIN cases "\n" lines)

string(MD5 name "${command}")
file(WRITE "${name}.lines" "${lines}\n")
execute_process(COMMAND ${command} --batch INPUT_FILE "${name}.lines" OUTPUT_VARIABLE records ERROR_VARIABLE errors)
file(REMOVE "${name}.lines")
string(REGEX MATCHALL "\"passed\":true" passed "${records}")
string(REGEX MATCHALL "\"lacks\":true" lacks "${records}")
list(LENGTH passed passed)
list(LENGTH lacks lacks)
math(EXPR answered "${passed} + ${lacks}")
if(passed EQUAL 0 OR NOT answered EQUAL count)
  message(FATAL_ERROR "${passed} of ${count} cases passed, and the system lacks what ${lacks} need:\n${lines}\n${records}\n${errors}")
endif()
